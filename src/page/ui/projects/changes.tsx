/** What the work on a task changed: commits, and the diff of each file. */
import { memo, type ReactNode, useMemo, useState } from 'react';
import type { Diff } from '../../../shared/protocol/attempts.ts';
import type { Project } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { useColours } from '../code/code-block.tsx';
import { ChevronIcon } from '../parts/icons.tsx';
import { count, plural } from '../text/sizes.ts';
import { revealed, revealedCode, revealedLine } from '../text/unseen.ts';
import { languageOf, type PatchLine, readPatch } from './patch.ts';
import { FILE_STATUS } from './work-words.ts';

type File = Diff['files'][number];

/** Lines of all files that are open at first. The others are folded. */
const OPEN_LINES = 400;
/** Lines of a file that are shown at once, and with each press. */
const SHOWN_LINES = 600;

/** `+12 −3`, in words for screen readers. */
export function LineCounts({ added, removed }: { added: number | null; removed: number | null }) {
  if (added === null || removed === null) return <span className="line-counts">{t`no text`}</span>;
  return (
    <span className="line-counts">
      <span aria-hidden="true">
        <i data-kind="new">+{count(added)}</i> <i data-kind="gone">−{count(removed)}</i>
      </span>
      <span className="visually-hidden">{t`${count(added)} lines added, ${count(removed)} removed`}</span>
    </span>
  );
}

const MARKS = { same: ' ', new: '+', gone: '−' } as const;
const SPOKEN = { same: '', new: t`added: `, gone: t`removed: ` } as const;

interface LineProps {
  readonly line: PatchLine;
  readonly text: ReactNode;
}

function Line({ line: { kind, before, after }, text }: LineProps) {
  if (kind === 'gap' || kind === 'note')
    return (
      <tr className="patch-line" data-kind={kind}>
        <td colSpan={3} aria-hidden="true" />
        <td className="patch-text">{text}</td>
      </tr>
    );
  return (
    <tr className="patch-line" data-kind={kind}>
      <td className="patch-number" data-line={before ?? ''} aria-hidden="true" />
      <td className="patch-number" data-line={after ?? ''} data-only={after ?? before ?? ''} aria-hidden="true" />
      <td className="patch-mark" data-mark={MARKS[kind]} aria-hidden="true" />
      <td className="patch-text">
        {kind !== 'same' && <span className="visually-hidden">{SPOKEN[kind]}</span>}
        <span>{text}</span>
      </td>
    </tr>
  );
}

const PatchTable = memo(function PatchTable({ file, isCode }: { file: File & { patch: string }; isCode: boolean }) {
  const lines = useMemo(() => readPatch(file.patch), [file.patch]);
  const [shown, setShown] = useState(SHOWN_LINES);
  const code = useMemo(() => lines.map(({ text }) => text).join('\n'), [lines]);
  const colouring = useColours(code, languageOf(file.path));
  const visible = isCode ? revealedCode : revealed;
  const textOf = (line: PatchLine, at: number): ReactNode => {
    if (line.kind === 'gap') return line.text === '' ? '⋯' : `⋯ ${visible(line.text)}`;
    if (line.kind === 'note') return t`There is no line break at the end of the file.`;
    const pieces = colouring?.lines[at];
    return pieces === undefined
      ? visible(line.text)
      : pieces.map(({ text, color }, i) => (
          <span key={i} style={{ color }}>
            {visible(text)}
          </span>
        ));
  };
  if (lines.length === 0) return <p className="patch-none">{t`No line of it changed: only its name or its mode.`}</p>;
  const more = lines.length - shown;
  return (
    <>
      {/* Rows are lines of a text. Screen readers read them as such. */}
      <table className="patch" role="presentation" dir={isCode ? 'ltr' : undefined} translate="no">
        <colgroup>
          <col className="patch-col-before" />
          <col className="patch-col-after" />
          <col className="patch-col-mark" />
          <col />
        </colgroup>
        <tbody>
          {lines.slice(0, shown).map((line, at) => (
            <Line key={at} line={line} text={textOf(line, at)} />
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <button type="button" className="ghost patch-more" onClick={() => setShown(shown + SHOWN_LINES)}>
          {t`Show ${plural(more, 'more line')}`}
        </button>
      )}
    </>
  );
});

function FileDiff({ file, isCode, isOpen }: { file: File; isCode: boolean; isOpen: boolean }) {
  const [open, setOpen] = useState(isOpen);
  const { path, before, status, added, removed, patch } = file;
  return (
    <details
      className="file-diff"
      open={isOpen}
      data-status={status}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <ChevronIcon />
        <span className="file-path" dir="ltr">
          {before !== null && <s>{revealedLine(before)}</s>} <b>{revealedLine(path)}</b>
        </span>
        {status !== 'changed' && <span className="work-chip">{FILE_STATUS[status]}</span>}
        <LineCounts added={added} removed={removed} />
      </summary>
      {open &&
        (patch !== null ? (
          <PatchTable file={{ ...file, patch }} isCode={isCode} />
        ) : (
          <p className="patch-none">
            {added === null
              ? t`This file is no text, such as a picture. Its content cannot be shown here.`
              : t`The change of this file is too long to be shown here. It is part of the work all the same.`}
          </p>
        ))}
    </details>
  );
}

/** The files that are open at first: as many as are read at a glance. */
function opened(files: readonly File[]): ReadonlySet<string> {
  const open = new Set<string>();
  let lines = 0;
  for (const { path, patch } of files) {
    lines += patch?.split('\n').length ?? 1;
    if (lines > OPEN_LINES && open.size > 0) break;
    open.add(path);
  }
  return open;
}

interface Props {
  readonly diff: Diff;
  readonly kind: Project['kind'];
  /** Commits that were there when the person looked before; null: this is the first look. */
  readonly seen: ReadonlySet<string> | null;
}

export function Changes({ diff: { files, more, commits }, kind, seen }: Props) {
  const open = useMemo(() => opened(files), [files]);
  const [added, removed] = [
    files.reduce((sum, file) => sum + (file.added ?? 0), 0),
    files.reduce((sum, file) => sum + (file.removed ?? 0), 0),
  ];
  if (files.length === 0) return <p className="setting-hint">{t`Nothing was changed.`}</p>;
  return (
    <>
      {kind === 'git' && commits.length > 0 && (
        <section className="review-part" aria-label={plural(commits.length, 'commit')}>
          <h3>{plural(commits.length, 'commit')}</h3>
          <ol className="commits">
            {commits.map(({ commit, subject }) => (
              <li key={commit}>
                <code dir="ltr">{commit.slice(0, 8)}</code> <span dir="auto">{revealed(subject)}</span>
                {seen !== null && !seen.has(commit) && (
                  <span className="work-chip" data-tone="live">
                    {t`newer`}
                  </span>
                )}
              </li>
            ))}
          </ol>
        </section>
      )}
      <section className="review-part" aria-label={plural(files.length + more, 'file')}>
        <h3>
          {plural(files.length + more, 'file')} <LineCounts added={added} removed={removed} />
        </h3>
        {files.map((file) => (
          <FileDiff key={file.path} file={file} isCode={kind === 'git'} isOpen={open.has(file.path)} />
        ))}
        {more > 0 && (
          <p className="setting-hint">{t`${plural(more, 'more file')} changed and cannot be shown here.`}</p>
        )}
      </section>
    </>
  );
}
