/** The history of an agent's files: what was changed and by whom, and restoring it. */
import { Link } from 'wouter';
import { useState } from 'react';
import { lineDiff, type DiffLine } from '../../../shared/domain/line-diff.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Change, Changes, Compared, History, Point, Side } from '../../../shared/protocol/endpoints/history.ts';
import { t } from '../../language/t.ts';
import { type ChangesFrom, historiesOf } from '../../state/history.ts';
import { problemText } from '../../state/ports.ts';
import { useRoost } from '../context.tsx';
import { useNow } from '../hooks.ts';
import { Dialog, SureDialog } from '../design/dialog.tsx';
import { MoreIcon } from '../design/icons.tsx';
import { MenuButton } from '../design/menu.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { bytes, count, plural } from '../text/sizes.ts';
import { clockTime, dayWithin } from '../text/time.ts';
import { revealedCode } from '../text/unseen.ts';
import { useTeammates } from '../use-somebody.ts';
import { CHANGES, countsText, GAPS, NOT_RECORDED, restoringText, workText } from './history-words.ts';
import '../design/excerpt.css';
import './history.css';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

/** The colour of a kind of change. */
const INKS: Readonly<Record<Change['change'], string>> = {
  added: 'good',
  changed: 'ink-3',
  deleted: 'danger',
  mode: 'ink-3',
  renamed: 'ink-3',
};

/** Opened by the address. */
export interface OpenedPoint {
  readonly point: string | null;
  readonly run: string | null;
}

interface Whose {
  readonly agentId: AgentId;
  readonly name: string;
}

/** Restores, and offers to undo it. */
function useRestore({ agentId, name }: Whose) {
  const state = useRoost();
  const histories = historiesOf(state);
  type To = Parameters<typeof histories.restore>[2];
  type Files = Parameters<typeof histories.restore>[3];
  /** Resolves with the reason of a failure; null: success. */
  async function restore(point: Pick<Point, 'pointId'>, to: To, files: Files): Promise<string | null> {
    const result = await histories.restore(agentId, point, to, files);
    if (!result.ok) return problemText(result.problem);
    const { pointId, left } = result.value;
    if (left.length > 0)
      state.notices.error(
        t`Not all of ${name}’s files could be restored. ${left
          .slice(0, 5)
          .map(({ path, why }) => `${path}: ${why}`)
          .join(' ')}`,
      );
    if (pointId === null) state.notices.info(t`Nothing was changed.`);
    else
      state.notices.info(t`${name}’s files are restored.`, {
        label: t`Undo`,
        run: () =>
          void restore({ pointId }, 'before', null).then((why) => {
            if (why !== null) state.notices.error(why);
          }),
      });
    return null;
  }
  return restore;
}

// One file on both sides of a change.

const CONTEXT = 3;
const MOST_LINES = 2_000;
type ShownLine = DiffLine | { readonly kind: 'head'; readonly text: string };

/** The changed lines, with a few around them. Pure. */
export function shownLines(lines: readonly DiffLine[]): readonly ShownLine[] {
  const near = new Set<number>();
  lines.forEach(({ kind }, i) => {
    if (kind !== 'same') for (let at = i - CONTEXT; at <= i + CONTEXT; at++) near.add(at);
  });
  const shown: ShownLine[] = [];
  let skipped = 0;
  const skip = () => {
    if (skipped > 0) shown.push({ kind: 'head', text: `… ${plural(skipped, 'more line')}` });
    skipped = 0;
  };
  lines.forEach((line, i) => {
    if (!near.has(i)) return void (skipped += 1);
    skip();
    shown.push(line);
  });
  skip();
  if (shown.length <= MOST_LINES) return shown;
  const rest = shown.length - MOST_LINES;
  return [...shown.slice(0, MOST_LINES), { kind: 'head', text: `… ${plural(rest, 'more line')}` }];
}

const MARKS: Readonly<Record<ShownLine['kind'], string>> = { same: ' ', gone: '−', new: '+', head: ' ' };
/** Null: it is no text. */
const textOf = (side: Side): string | null =>
  side.kind === 'text'
    ? side.text
    : side.kind === 'none'
      ? ''
      : side.kind === 'link'
        ? t`a link to ${side.target}`
        : null;
const sizeOf = (side: Side): string => ('bytes' in side ? bytes(side.bytes) : t`nothing`);

function ComparedView({ compared: { before, after }, path }: { compared: Compared; path: string }) {
  const [old, now] = [textOf(before), textOf(after)];
  if (old === null || now === null)
    return <p>{t`It cannot be compared here: ${sizeOf(before)} before, ${sizeOf(after)} after.`}</p>;
  if (old === now) return <p>{t`Nothing was changed.`}</p>;
  return (
    // Scrollable where it is too wide, by keyboard too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className="excerpt diff history-diff" dir="ltr" tabIndex={0} role="region" aria-label={t`Change in ${path}`}>
      {shownLines(lineDiff(old, now)).map(({ kind, text }, i) => (
        <span key={i} data-kind={kind}>{`${MARKS[kind]} ${revealedCode(text)}\n`}</span>
      ))}
    </pre>
  );
}

interface ChangeProps extends Whose {
  readonly point: Point;
  readonly change: Change;
  readonly onClose: () => void;
}

function CompareDialog({ agentId, name, point, change, onClose }: ChangeProps) {
  const histories = historiesOf(useRoost());
  const restore = useRestore({ agentId, name });
  const [from, setFrom] = useState<ChangesFrom>('previous');
  const { busy, failed, act } = useAction();
  const query = histories.compared(agentId, point.pointId, from, change);
  const put = () =>
    act(async () => {
      const why = await restore(point, 'before', filesOf(change));
      return why === null ? onClose() : t`Could not do this. ${why}`;
    });
  return (
    <Dialog title={change.path} shape="wide" onClose={onClose}>
      <div className="history-from flex wrap gap-4" role="group" aria-label={t`Compared with`}>
        {(['previous', 'before'] as const).map((each) => (
          <button key={each} type="button" className="ghost" aria-pressed={from === each} onClick={() => setFrom(each)}>
            {each === 'previous' ? t`What was changed then` : t`From before that until now`}
          </button>
        ))}
      </div>
      <QueryView query={query}>{(compared) => <ComparedView compared={compared} path={change.path} />}</QueryView>
      <WrongNote text={failed} />
      <div className="dialog-ways">
        <button type="button" className="solid" disabled={busy} onClick={put}>
          {busy ? t`Working…` : restoreLabel(change)}
        </button>
      </div>
    </Dialog>
  );
}

/** A moved file is restored at both of its places. */
const filesOf = ({ folder, file, from }: Change) => [
  { folder, file },
  ...(from === null ? [] : [{ folder, file: from.file }]),
];
const restoreLabel = ({ change }: Change): string => (change === 'added' ? t`Delete` : t`Restore`);

/** Restoring all asks first, and says what it would do. */
function RestoreDialog({
  agentId,
  name,
  point,
  to,
  onClose,
}: Whose & { point: Point; to: 'before' | 'after'; onClose: () => void }) {
  const restore = useRestore({ agentId, name });
  const query = historiesOf(useRoost()).changes(agentId, point.pointId, to);
  return (
    <SureDialog
      title={to === 'before' ? t`Restore all as before this…` : t`Restore all as after this…`}
      does={t`Restore`}
      stays={t`Cancel`}
      onSure={() => restore(point, to, null)}
      onClose={onClose}
    >
      <QueryView query={query}>
        {({ changes, more }) => <p>{restoringText(changes, more) ?? t`Nothing would change.`}</p>}
      </QueryView>
      <p>{t`What came later is undone too. You can undo this.`}</p>
      <p className="history-only break ink-2 text-3 pretty">{ONLY_FILES}</p>
    </SureDialog>
  );
}

const ONLY_FILES = t`Only files come back, not messages, pushes or requests to other hosts.`;

// The list.

function PointChanges({ agentId, name, point }: Whose & { point: Point }) {
  const query = historiesOf(useRoost()).changes(agentId, point.pointId, 'previous');
  return <QueryView query={query}>{(answer) => <ChangeList {...{ agentId, name, point, answer }} />}</QueryView>;
}

function ChangeList({ agentId, name, point, answer }: Whose & { point: Point; answer: Changes }) {
  const state = useRoost();
  const restore = useRestore({ agentId, name });
  const [opened, setOpened] = useState<Change | null>(null);
  const undoOne = async (change: Change) => {
    const why = await restore(point, 'before', filesOf(change));
    if (why !== null) state.notices.error(why);
  };
  return (
    <>
      <ul className="history-changes" aria-label={t`Files`}>
        {answer.changes.map((change) => (
          <li className="stack middle touchable" key={`${change.folder}/${change.file}`} data-change={change.change}>
            <small className={`history-what text-2 ${INKS[change.change]}`}>{CHANGES[change.change]}</small>
            <span className="history-path flex baseline wrap break gap-x-4">
              {change.kind === 'folder' ? (
                <span dir="auto">{`${change.path}/`}</span>
              ) : (
                <button
                  type="button"
                  className="files-open text-start plain-button break ink pad-3-0"
                  dir="auto"
                  onClick={() => setOpened(change)}
                >
                  {change.path}
                </button>
              )}
              {change.from !== null && <small className="ink-3 text-2" dir="auto">{t`was ${change.from.path}`}</small>}
            </span>
            <MenuButton
              label={t`More for ${change.path}`}
              items={[{ label: restoreLabel(change), run: () => void undoOne(change) }]}
            >
              <MoreIcon />
            </MenuButton>
          </li>
        ))}
      </ul>
      {answer.more > 0 && <p className="files-about pretty ink-2 text-3">{t`and ${count(answer.more)} more`}</p>}
      {answer.notRecorded.length > 0 && (
        <details className="history-left break ink-2 text-3 pretty">
          <summary>{t`Not recorded: ${count(answer.notRecorded.length + answer.moreNotRecorded)}`}</summary>
          <ul>
            {answer.notRecorded.slice(0, SHOWN_LEFT).map(({ folder, path, why, bytes: size }) => (
              <li key={`${folder}/${path}`}>
                <span dir="auto">{path}</span>
                <span>{`: ${NOT_RECORDED[why]}${size > 0 ? ` (${bytes(size)})` : ''}`}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {opened && <CompareDialog {...{ agentId, name, point }} change={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

/** Entries that are not recorded and are named. */
const SHOWN_LEFT = 100;

function PointItem({
  agentId,
  name,
  point,
  isOpen,
  onToggle,
}: Whose & { point: Point; isOpen: boolean; onToggle: () => void }) {
  const now = useNow();
  const team = useTeammates();
  const [restoring, setRestoring] = useState<'before' | 'after' | null>(null);
  const nameOf = (id: string) => team.all.find((mate) => mate.agentId === id)?.name ?? null;
  return (
    <li>
      <button
        type="button"
        className="history-head touchable text-start full plain-button stack middle break ink pad-4-6"
        aria-expanded={isOpen}
        onClick={onToggle}
      >
        <span dir="auto">{workText(point.work, nameOf)}</span>
        <small className="ink-3 text-2">{countsText(point.counts)}</small>
        <small className="ink-3 text-2">
          {dayWithin(point.at, now)} {clockTime(point.at)}
        </small>
      </button>
      {isOpen && (
        <div className="history-body one-column ruled stack gap-5">
          {point.cutOff && <p className="files-about pretty ink-2 text-3">{t`Other changes may be among these.`}</p>}
          {point.work.kind === 'turn' && (
            <p>
              <Link href={PATHS.message(agentId, point.work.messageId)}>{t`Show the answer`}</Link>
            </p>
          )}
          <PointChanges {...{ agentId, name, point }} />
          <div className="history-ways flex wrap gap-4">
            <button type="button" className="ghost" onClick={() => setRestoring('before')}>
              {t`Restore all as before this…`}
            </button>
            <button type="button" className="ghost" onClick={() => setRestoring('after')}>
              {t`Restore all as after this…`}
            </button>
          </div>
        </div>
      )}
      {restoring && <RestoreDialog {...{ agentId, name, point }} to={restoring} onClose={() => setRestoring(null)} />}
    </li>
  );
}

const HELP: Readonly<Record<Exclude<History['undo'], 'on'>, (leastGit: string) => string>> = {
  'no-git': () =>
    t`Git is not installed on the relay’s computer. Install it (Debian and Ubuntu: apt install git; Fedora: dnf install git; macOS: xcode-select --install).`,
  'old-git': (leastGit) => t`The git where the relay runs is too old. Install version ${leastGit} or newer.`,
  broken: () => t`The relay’s log says why. Delete it below to begin a new one; the files stay.`,
};

/** Why undo is off, and what to do. */
function OffNote({ undo, leastGit }: Pick<History, 'undo' | 'leastGit'>) {
  if (undo === 'on') return null;
  return (
    <div className="wrong-note" role="status">
      <p>
        <strong>{undo === 'broken' ? t`The history cannot be read.` : t`Nothing can be undone here.`}</strong>{' '}
        <span>{HELP[undo](leastGit)}</span>
      </p>
    </div>
  );
}

function Gaps({ gaps }: Pick<History, 'gaps'>) {
  const now = useNow();
  const team = useTeammates();
  const nameOf = (id: string) => team.all.find((mate) => mate.agentId === id)?.name ?? null;
  if (gaps.length === 0) return null;
  return (
    <div className="wrong-note" role="status">
      <p>
        <strong>{t`Some changes could not be recorded, and cannot be undone.`}</strong>
      </p>
      <ul>
        {gaps.slice(0, SHOWN_GAPS).map(({ at, work, why }) => (
          <li key={`${at} ${work.kind}`}>
            {`${workText(work, nameOf)}, ${dayWithin(at, now)} ${clockTime(at)}: ${GAPS[why]}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
const SHOWN_GAPS = 5;

function ForgetDialog({ agentId, onClose }: Pick<Whose, 'agentId'> & { onClose: () => void }) {
  const histories = historiesOf(useRoost());
  return (
    <SureDialog
      title={t`Delete the history…`}
      does={t`Delete`}
      onSure={() => histories.forget(agentId)}
      onClose={onClose}
    >
      <p>{t`The files stay. Earlier changes can no longer be undone.`}</p>
    </SureDialog>
  );
}

function HistoryList({ agentId, name, opened, history }: Whose & { opened: OpenedPoint; history: History }) {
  const histories = historiesOf(useRoost());
  const [older, setOlder] = useState<{ readonly points: readonly Point[]; readonly more: boolean } | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [forgetting, setForgetting] = useState(false);
  const isOpened = ({ pointId, work }: Point) =>
    pointId === opened.point || (opened.run !== null && work.kind === 'run' && work.runId === opened.run);
  /** Toggled by the person, against what the address opens. */
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const first = new Set(history.points.map(({ pointId }) => pointId));
  const points = [...history.points, ...(older?.points ?? []).filter(({ pointId }) => !first.has(pointId))];
  const more = older?.more ?? history.more;
  const toggle = (pointId: string) =>
    setToggled((before) => {
      const next = new Set(before);
      if (!next.delete(pointId)) next.add(pointId);
      return next;
    });
  const showMore = async () => {
    const last = points.at(-1);
    if (!last) return;
    const result = await histories.older(agentId, last.pointId);
    setFailed(result.ok ? null : problemText(result.problem));
    if (result.ok) setOlder({ points: [...(older?.points ?? []), ...result.value.points], more: result.value.more });
  };
  const { undo, leastGit, gaps, keptDays, fileBytes, bytes: taken } = history;
  const isMissing = opened.run !== null && !points.some(isOpened);
  return (
    <>
      <OffNote {...{ undo, leastGit }} />
      <Gaps gaps={gaps} />
      {isMissing && (
        <p
          className="files-empty round-l pretty ink-2 framed"
          role="status"
        >{t`This run changed no files, or it was too long ago.`}</p>
      )}
      {points.length === 0 ? (
        <p className="files-empty round-l pretty ink-2 framed pad-7">
          {t`Nothing was changed yet. Here you can undo what ${name} does to files.`}
        </p>
      ) : (
        <ul className="history-list round-l clip framed ground-1" aria-label={t`History`}>
          {points.map((point) => (
            <PointItem
              key={point.pointId}
              {...{ agentId, name, point }}
              isOpen={isOpened(point) !== toggled.has(point.pointId)}
              onToggle={() => toggle(point.pointId)}
            />
          ))}
        </ul>
      )}
      {failed !== null && <p role="alert">{failed}</p>}
      {more && (
        <button type="button" className="ghost self-start" onClick={() => void showMore()}>{t`Show more`}</button>
      )}
      <div className="stack at-start gap-4 break ink-2 text-3 pretty measure">
        <p>
          {t`${bytes(taken)} used. Changes are stored for ${keptDays} days at most. Files over ${bytes(fileBytes)} are not recorded.`}
        </p>
        {(taken > 0 || undo === 'broken') && (
          <button type="button" className="ghost" onClick={() => setForgetting(true)}>{t`Delete the history…`}</button>
        )}
      </div>
      {forgetting && <ForgetDialog agentId={agentId} onClose={() => setForgetting(false)} />}
    </>
  );
}

export function FileHistory({ agentId, name, opened }: Whose & { opened: OpenedPoint }) {
  return (
    <div className="stack gap-6 one-column">
      <QueryView query={historiesOf(useRoost()).of(agentId)}>
        {(history) => <HistoryList {...{ agentId, name, opened, history }} />}
      </QueryView>
    </div>
  );
}
