/** What an agent keeps: its files, where each came from, and their texts to read and correct. */
import { type FormEvent, useId, useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Memory } from '../../../shared/protocol/memories.ts';
import { t } from '../../language/t.ts';
import { memoriesOf, type MemoryOutcome } from '../../state/memories.ts';
import { Words } from '../chat/markdown.tsx';
import { useRoost } from '../context.tsx';
import { useNow, useQuery } from '../hooks.ts';
import { Diff } from '../parts/diff.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { dayAndClock } from '../text/time.ts';
import './memory.css';
import { useAction } from '../design/use-action.ts';

/** A text in a form. `save` resolves with the outcome; the form stays open after a refusal. */
function TextForm({
  path,
  text,
  save,
  onClose,
}: {
  /** Null: the person names the file. */
  readonly path: string | null;
  readonly text: string;
  readonly save: (path: string, text: string) => Promise<MemoryOutcome>;
  readonly onClose: () => void;
}) {
  const id = useId();
  const [named, setNamed] = useState(path ?? '');
  const [draft, setDraft] = useState(text);
  const { busy: saving, failed: problem, act } = useAction();
  function submit(event: FormEvent) {
    event.preventDefault();
    act(async () => {
      const outcome = await save(named.trim(), draft);
      if (outcome.ok) onClose();
      return outcome;
    });
  }
  return (
    <form className="gap-4 stack" onSubmit={submit}>
      {path === null && (
        <label htmlFor={`${id}-path`}>
          {t`File name`}
          <input
            id={`${id}-path`}
            className="field"
            placeholder="garden.md"
            required
            value={named}
            onChange={({ target }) => setNamed(target.value)}
          />
        </label>
      )}
      <textarea
        className="field"
        aria-label={t`Text of ${path ?? t`the file`}`}
        rows={8}
        value={draft}
        onChange={({ target }) => setDraft(target.value)}
      />
      {problem !== null && <p role="alert">{problem}</p>}
      <p className="memory-acts flex">
        <button type="submit" className="solid" disabled={saving}>{t`Save`}</button>
        <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
      </p>
    </form>
  );
}

/** The author and the time of a version. */
function Written({
  version: { source, changedAt },
  name,
}: {
  readonly version: Pick<Memory, 'source' | 'changedAt'>;
  readonly name: string;
}) {
  const now = useNow();
  const by = { human: t`by you`, agent: t`by ${name}`, dream: t`in a dream of ${name}` }[source.by];
  return (
    <small className="ink-3 text-2">
      <span>{[by, dayAndClock(changedAt, now)].join(' · ')}</span>
      {source.read.length > 0 && <span>{` · ${t`after reading text of others`}`}</span>}
    </small>
  );
}

/** The versions of a file, newest first, each with what it changed. */
function Versions({ file, name }: { readonly file: Memory; readonly name: string }) {
  const memories = memoriesOf(useRoost());
  const { busy, failed, act } = useAction();
  const query = memories.versions(file.memoryId);
  return (
    <QueryView query={query}>
      {(versions) => (
        <ol className="memory-versions" aria-label={t`Versions of ${file.path}`} reversed>
          {versions.map((version, i) => (
            <li key={`${version.changedAt} ${i}`}>
              <p className="flex apart">
                <Written version={version} name={name} />
                {!version.removed && version.text !== file.text && (
                  <button
                    type="button"
                    className="link-button"
                    disabled={busy}
                    onClick={() => act(() => memories.change(file, { text: version.text }))}
                  >{t`Restore`}</button>
                )}
              </p>
              {failed !== null && i === 0 && <p role="alert">{failed}</p>}
              <Diff before={versions[i + 1]?.text ?? ''} after={version.text} />
            </li>
          ))}
        </ol>
      )}
    </QueryView>
  );
}

function File({ file, name }: { readonly file: Memory; readonly name: string }) {
  const memories = memoriesOf(useRoost());
  const [editing, setEditing] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [isOpen, setOpen] = useState(false);
  const { path, text, pinned } = file;
  async function pin() {
    const outcome = await memories.change(file, { pinned: !pinned });
    setProblem(outcome.ok ? null : outcome.reason);
  }
  return (
    <li>
      <details className="memory-file">
        <summary className="flex baseline wrap gap-4">
          <code dir="auto">{path}</code>
          {pinned && <span className="memory-pin ink-3 text-2">{t`pinned`}</span>}
          <Written version={file} name={name} />
        </summary>
        {editing ? (
          <TextForm
            path={path}
            text={text}
            save={(_path, draft) => memories.change(file, { text: draft })}
            onClose={() => setEditing(false)}
          />
        ) : (
          <>
            <Words text={text} />
            {problem !== null && <p role="alert">{problem}</p>}
            <p className="memory-acts flex">
              <button type="button" className="link-button" onClick={() => setEditing(true)}>{t`Edit`}</button>
              <button type="button" className="link-button" onClick={() => void pin()}>
                {pinned ? t`Unpin` : t`Pin`}
              </button>
              <button type="button" className="link-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                {t`Versions`}
              </button>
              <button
                type="button"
                className="link-button"
                onClick={() => void memories.remove(file)}
              >{t`Delete`}</button>
            </p>
            {isOpen && <Versions file={file} name={name} />}
          </>
        )}
      </details>
    </li>
  );
}

export function MemorySection({ agentId, name }: { readonly agentId: AgentId; readonly name: string }) {
  const memories = memoriesOf(useRoost());
  const query = memories.of(agentId);
  const reading = useQuery(query);
  const [adding, setAdding] = useState(false);
  return (
    <section className="memory" aria-label={t`Memory`}>
      <h3 className="flex apart">
        <span>{t`Memory`}</span>
        {reading.kind === 'ready' && !adding && (
          <button type="button" className="link-button" onClick={() => setAdding(true)}>{t`Add a file`}</button>
        )}
      </h3>
      {adding && (
        <TextForm
          path={null}
          text=""
          save={(path, text) => memories.add(agentId, { path, text })}
          onClose={() => setAdding(false)}
        />
      )}
      <QueryView query={query}>
        {(files) =>
          files.length === 0 ? (
            <p className="ink-3">{t`Nothing yet. Ask ${name} to remember something.`}</p>
          ) : (
            <ul>
              {files.map((file) => (
                <File key={file.memoryId} file={file} name={name} />
              ))}
            </ul>
          )
        }
      </QueryView>
    </section>
  );
}
