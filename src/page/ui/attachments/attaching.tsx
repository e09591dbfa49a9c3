/** Attachments of an unsent message: chips above the field. */
import { lazy, type RefObject, Suspense, useEffect, useRef, useState } from 'react';
import { ATTACHMENTS, isPicture } from '../../../shared/domain/attachment.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { PreparedFile } from '../../state/attachments.ts';
import { errorText } from '../../state/ports.ts';
import { droppedFiles } from '../design/drop-zone.tsx';
import { followDraftFiles, storeDraftFiles, readDraftFiles } from '../chat/drafts.ts';
import { useRoost } from '../context.tsx';
import { CloseIcon } from '../design/icons.tsx';
import { AttachIcon } from '../design/more-icons.tsx';
import { bytes, count, plural } from '../text/sizes.ts';
import './drops.css';
import './attaching.css';

const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;

/**
 * Files may be dropped anywhere on the conversation around `inside`, which is highlighted
 * meanwhile. `onFiles` null: files are not accepted, and the browser does not open them either.
 */
export function useDrops(
  inside: RefObject<HTMLElement | null>,
  onFiles: ((files: Promise<readonly File[]>) => void) | null,
): void {
  const take = useRef(onFiles);
  useEffect(() => {
    take.current = onFiles;
  });
  useEffect(() => {
    const place = inside.current?.closest<HTMLElement>('.chat');
    if (!place) return undefined;
    // Nesting depth: a child is entered before its parent is left.
    let over = 0;
    const show = () => {
      if (over > 0 && take.current !== null) place.dataset['drops'] = 'true';
      else delete place.dataset['drops'];
    };
    const onEnter = (event: DragEvent) => {
      if (!holdsFiles(event)) return;
      over += 1;
      show();
    };
    const onLeave = (event: DragEvent) => {
      if (!holdsFiles(event)) return;
      over = Math.max(0, over - 1);
      show();
    };
    // Otherwise the browser handles the drop itself.
    const onOver = (event: DragEvent) => {
      if (holdsFiles(event)) event.preventDefault();
    };
    const onDrop = (event: DragEvent) => {
      over = 0;
      show();
      if (!holdsFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) take.current?.(droppedFiles(event.dataTransfer));
    };
    place.addEventListener('dragenter', onEnter);
    place.addEventListener('dragleave', onLeave);
    place.addEventListener('dragover', onOver);
    place.addEventListener('drop', onDrop);
    return () => {
      over = 0;
      delete place.dataset['drops'];
      place.removeEventListener('dragenter', onEnter);
      place.removeEventListener('dragleave', onLeave);
      place.removeEventListener('dragover', onOver);
      place.removeEventListener('drop', onDrop);
    };
  }, [inside]);
}

/** A summary of problems with files, and one sentence per file if there are many. */
export interface FilesProblem {
  readonly text: string;
  readonly each: readonly string[];
}

/** Sentences that are shown in a row. More are a list that opens. */
const IN_A_ROW = 3;

function problemOf(wrong: readonly string[], all: number): FilesProblem | null {
  if (wrong.length === 0) return null;
  if (wrong.length <= IN_A_ROW) return { text: wrong.join(' '), each: [] };
  return { text: t`Of ${plural(all, 'file')}, ${count(wrong.length)} could not be attached unchanged.`, each: wrong };
}

interface Attaching {
  readonly files: readonly PreparedFile[];
  /** Number of files being read and scaled down. */
  readonly preparing: number;
  /** Why some files were not accepted, or how they were changed. */
  readonly problem: FilesProblem | null;
  /** Storage is full, so the files are lost on a reload. */
  readonly unkept: boolean;
  /** The file that was removed last, and can be restored. */
  readonly removed: PreparedFile | null;
  add(files: Iterable<File> | Promise<Iterable<File>>): void;
  /** Restores files that were attached before. */
  putBack(files: readonly PreparedFile[]): void;
  remove(file: PreparedFile): void;
  undo(): void;
  /** Removes the files after they were sent. */
  clear(): void;
}

const PREPARING_FAILED = t`Could not load a part of the page. Check the connection to the relay.`;

/**
 * `draft`: the draft they belong to until it is sent, across reloads and tabs; null: they last as
 * long as this component.
 */
export function useAttaching(draft: string | null): Attaching {
  const { device } = useRoost();
  const [files, setFiles] = useState<readonly PreparedFile[]>([]);
  const [preparing, setPreparing] = useState(0);
  const [problem, setProblem] = useState<FilesProblem | null>(null);
  const [removed, setRemoved] = useState<PreparedFile | null>(null);
  const [unkept, setUnkept] = useState(false);
  /** The current value, for files that arrive while others are being read. */
  const fileList = useRef(files);
  const show = (next: readonly PreparedFile[]) => {
    fileList.current = next;
    setFiles(next);
  };
  const put = (next: readonly PreparedFile[]) => {
    show(next);
    if (draft !== null && !storeDraftFiles(device.browser, draft, next)) setUnkept(true);
  };
  useEffect(() => {
    if (draft === null) return undefined;
    let hasLeft = false;
    async function bringBack(of: string): Promise<void> {
      const drafts = readDraftFiles(device.browser, of);
      const isKept = ({ attachmentId }: PreparedFile) => drafts.some((file) => file.attachmentId === attachmentId);
      if (!fileList.current.every(isKept)) show(fileList.current.filter(isKept));
      const missing = drafts.filter(({ sha256 }) => !fileList.current.some((file) => file.sha256 === sha256));
      if (missing.length === 0) return;
      setPreparing((count) => count + missing.length);
      const read = await Promise.all(missing.map(({ attachmentId }) => device.shelf.read(attachmentId)));
      if (hasLeft) return;
      setPreparing((count) => count - missing.length);
      // Other files may have been attached meanwhile.
      const readFiles = missing.flatMap((file, i) => {
        const data = read[i] ?? null;
        return data === null || fileList.current.some(({ sha256 }) => sha256 === file.sha256)
          ? []
          : [{ ...file, data }];
      });
      show([...readFiles, ...fileList.current]);
    }
    void bringBack(draft);
    const stop = followDraftFiles(draft, () => void bringBack(draft));
    return () => {
      hasLeft = true;
      stop();
    };
  }, [device, draft]);

  /** null: it was added; otherwise the problem. */
  function take(file: PreparedFile): string | null {
    if (fileList.current.some(({ sha256 }) => sha256 === file.sha256)) return null;
    if (fileList.current.length >= ATTACHMENTS.count)
      return t`${file.name} was left out: a message takes ${plural(ATTACHMENTS.count, 'file')}.`;
    if (fileList.current.reduce((sum, each) => sum + each.bytes, file.bytes) > ATTACHMENTS.bytes)
      return t`${file.name} was left out: a message takes ${bytes(ATTACHMENTS.bytes)}.`;
    put([...fileList.current, file]);
    void device.shelf.put(file.attachmentId, file.data).then((kept) => kept || setUnkept(true));
    return null;
  }

  async function addAll(files: Iterable<File> | Promise<Iterable<File>>): Promise<void> {
    setProblem(null);
    setRemoved(null);
    const wrong: string[] = [];
    const all: File[] = [];
    try {
      all.push(...(await files));
      if (all.length === 0) wrong.push(t`There is no file in that folder.`);
    } catch (error) {
      wrong.push(t`Could not load this. ${errorText(error)}`);
    }
    setPreparing((preparing) => preparing + all.length);
    try {
      const { prepareFile } = await import('./prepare.ts');
      for (const file of all) {
        const prepared = await prepareFile(file, device.newId);
        const why = prepared.ok ? (take(prepared.file) ?? prepared.note ?? null) : prepared.reason;
        if (why !== null) wrong.push(why);
        setPreparing((preparing) => preparing - 1);
      }
    } catch {
      wrong.push(PREPARING_FAILED);
      setPreparing(0);
    }
    setProblem(problemOf(wrong, all.length));
  }

  return {
    files,
    preparing,
    problem,
    unkept,
    removed,
    add: (added) => void addAll(added),
    putBack(back) {
      const wrong = back.flatMap((file) => take(file) ?? []);
      if (wrong.length > 0) setProblem(problemOf(wrong, back.length));
    },
    remove(file) {
      put(fileList.current.filter((each) => each !== file));
      setRemoved(file);
    },
    undo() {
      const why = removed && take(removed);
      setProblem(why === null ? null : problemOf([why], 1));
      setRemoved(null);
    },
    clear() {
      put([]);
      setRemoved(null);
      setProblem(null);
      setUnkept(false);
    },
  };
}

/** Selects files. A phone also offers its camera and photos. */
export function AttachButton({ attaching, disabled }: { attaching: Attaching; disabled: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          // The same file can be chosen again after it was removed.
          event.target.value = '';
          if (files.length > 0) attaching.add(files);
        }}
      />
      <button
        type="button"
        className="compose-attach both-centred plain-button round stack fixed ink-2"
        aria-label={t`Attach pictures or files`}
        title={t`Attach pictures or files`}
        disabled={disabled}
        onClick={() => input.current?.click()}
      >
        <AttachIcon />
      </button>
    </>
  );
}

/** Loaded with the first file. */
const SightNote = lazy(() => import('./sight-note.tsx'));

/** `reader`: the agent whose model receives them. */
export function Chips({ attaching, reader }: { attaching: Attaching; reader: AgentId }) {
  const { files, preparing, removed } = attaching;
  return (
    <>
      {files.length > 0 && (
        <ul className="attached-files flex wrap gap-3" aria-label={t`Attached`}>
          {files.map((file) => (
            <li
              key={file.attachmentId}
              className="attached-file at-most-full round-s line gap-4 text-2 framed ground-2"
            >
              {isPicture(file.mediaType) && (
                <img className="size-l" src={`data:${file.mediaType};base64,${file.data}`} alt="" />
              )}
              <span className="attached-file-name truncate" dir="auto" title={file.name}>
                {file.name}
              </span>
              <small className="nowrap">{bytes(file.bytes)}</small>
              <button
                className="stack ink-2 round-s plain-button both-centred size-m"
                type="button"
                aria-label={t`Remove ${file.name}`}
                onClick={() => attaching.remove(file)}
              >
                <CloseIcon />
              </button>
            </li>
          ))}
        </ul>
      )}
      {files.length > 0 && (
        <Suspense>
          <SightNote files={files} reader={reader} />
        </Suspense>
      )}
      <p className={preparing > 0 || removed ? 'attached-note ink-2 text-2' : 'visually-hidden'} role="status">
        {preparing > 0
          ? t`Reading ${plural(preparing, 'file')}`
          : removed && (
              <>
                {t`${removed.name} is removed`}{' '}
                <button type="button" className="link-button" onClick={attaching.undo}>{t`Undo`}</button>
              </>
            )}
      </p>
    </>
  );
}
