/** Reads a diff from the relay: page by page, and long files one by one. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Diff } from '../../../shared/protocol/attempts.ts';
import type { Task } from '../../../shared/protocol/projects.ts';
import { problemText } from '../../state/ports.ts';
import { taskWorkOf } from '../../state/task-work.ts';
import { useRoost } from '../context.tsx';

export type DiffFile = Diff['files'][number] & {
  /** Where the next part of its patch begins; null: all of it is here. */
  readonly next: number | null;
};
export interface ShownDiff extends Diff {
  readonly files: DiffFile[];
}

type Read =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** `seen`: commits of the diff before; null: it is the first one. */
  | { readonly kind: 'ready'; readonly diff: ShownDiff; readonly seen: ReadonlySet<string> | null };

/** The reason why not; null: it is shown. `changed`: the branch has newer commits by now. */
type Fetched = { readonly kind: 'shown' } | { readonly kind: 'changed' } | { readonly kind: 'failed'; why: string };

export interface DiffReading {
  readonly read: Read;
  /** Reads the whole diff again. */
  again(): Promise<void>;
  /** Reads further files. */
  more(): Promise<Fetched>;
  /** Reads the patch of a file, or the next part of it. */
  show(file: DiffFile): Promise<Fetched>;
}

const whole = (files: Diff['files']): DiffFile[] => files.map((file) => ({ ...file, next: null }));

/** The diff of a task. It stays as it was when it was read, since it is what the person accepts. */
export function useDiff(task: Task): DiffReading {
  const work = taskWorkOf(useRoost());
  const { projectId, taskId } = task;
  const [read, setRead] = useState<Read>({ kind: 'loading' });
  const current = useRef(read);
  const set = useCallback((next: Read) => {
    current.current = next;
    setRead(next);
  }, []);
  const ask = useCallback((from: number) => work.diff({ projectId, taskId }, from), [work, projectId, taskId]);
  const take = useCallback(
    (answer: Awaited<ReturnType<typeof ask>>) => {
      const before = current.current;
      set(
        answer.ok
          ? {
              kind: 'ready',
              diff: { ...answer.value, files: whole(answer.value.files) },
              seen: before.kind === 'ready' ? new Set(before.diff.commits.map(({ commit }) => commit)) : null,
            }
          : { kind: 'failed', reason: problemText(answer.problem) },
      );
    },
    [set],
  );
  useEffect(() => {
    let isWanted = true;
    void ask(0).then((answer) => {
      if (isWanted) take(answer);
    });
    return () => {
      isWanted = false;
    };
  }, [ask, take]);
  const again = useCallback(async () => take(await ask(0)), [ask, take]);

  const more = useCallback(async (): Promise<Fetched> => {
    const before = current.current;
    if (before.kind !== 'ready') return { kind: 'changed' };
    const answer = await ask(before.diff.files.length);
    if (!answer.ok) return { kind: 'failed', why: problemText(answer.problem) };
    const now = current.current;
    const { base, head, files, more: left } = answer.value;
    if (now.kind !== 'ready' || now.diff.base !== base || now.diff.head !== head) return { kind: 'changed' };
    const known = new Set(now.diff.files.map(({ number }) => number));
    const added = whole(files.filter(({ number }) => !known.has(number)));
    set({ ...now, diff: { ...now.diff, files: [...now.diff.files, ...added], more: left } });
    return { kind: 'shown' };
  }, [ask, set]);

  const show = useCallback(
    async (file: DiffFile): Promise<Fetched> => {
      const from = file.next ?? 0;
      const answer = await work.filePatch({ projectId, taskId }, { ...file.content, from });
      if (!answer.ok) return { kind: 'failed', why: problemText(answer.problem) };
      const now = current.current;
      if (now.kind !== 'ready') return { kind: 'changed' };
      const { patch, reason, next } = answer.value;
      const files = now.diff.files.map((one): DiffFile => {
        // A part that arrives twice is added once.
        if (one.number !== file.number || one.content.after !== file.content.after || one.next !== file.next)
          return one;
        return { ...one, patch: patch === null ? null : (one.patch ?? '') + patch, reason, next };
      });
      set({ ...now, diff: { ...now.diff, files } });
      return { kind: 'shown' };
    },
    [work, projectId, taskId, set],
  );
  return { read, again, more, show };
}
