/** An agent's own page, with its tabs: about, conversations, activity, costs, and more. */
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useId, useState } from 'react';
import { Link, Redirect } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { shownText } from '../../../shared/domain/names.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { type Agent, displayName } from '../../../shared/domain/agent.ts';
import { lineDiff } from '../../../shared/domain/line-diff.ts';
import { bytesOf } from '../../../shared/domain/platform/json.ts';
import type { Waking } from '../../../shared/protocol/worker.ts';
import { t } from '../../language/t.ts';
import { errorText } from '../../state/ports.ts';
import { runSpansOf } from '../../state/live.ts';
import { PATHS, type PortraitTab, useRoute } from '../routes.ts';
import { OpenThreads, openThreadsOf } from '../agent/open-threads.tsx';
import { CredentialList, MakeCredential } from '../clients/clients-section.tsx';
import { useHousehold, useRoost } from '../context.tsx';
import { exportAgentFile } from '../exports/later.ts';
import { Inbox } from '../inbox/inbox.tsx';
import { Tabs } from '../design/tabs.tsx';
import { PageHead, QueryView } from '../parts/page-head.tsx';
import { useThreads } from '../threads/use-threads.ts';
import { useNames, useSomebody, useTeammates } from '../use-somebody.ts';
import { Budget } from '../wakes/budget.tsx';
import { ExamsSection } from '../exams/exams.tsx';
import { DreamsSection } from '../memory/dreams.tsx';
import { MemorySection } from '../memory/memory.tsx';
import { ShareBirthButton } from '../agent/share-birth-button.tsx';
import { birthOf, type Kept, namesOf, Soul, soulsOf } from '../agent/soul.tsx';
import { Words } from '../chat/markdown.tsx';
import { Diff } from '../parts/diff.tsx';
import { bytes, plural } from '../text/sizes.ts';
import { clockTime, dayName, fullTime } from '../text/time.ts';
import { causeText, outcomeText } from '../chat/dividers.tsx';
import { byDay } from '../text/by-day.ts';
import { useNow } from '../hooks.ts';
import { stateText } from '../chat/head.tsx';
import { ActivityLog } from '../activity/activity-log.tsx';
import { AgentCosts } from '../costs/agent-costs.tsx';
import { Face } from '../grid/face.tsx';
import { TAB_TITLES } from './titles.ts';
import '../schedule/schedule.css';
import '../clients/clients.css';
import './portrait.css';
import { useAction } from '../design/use-action.ts';

/** Inbox messages that are shown here. */
const NEWEST = 3;

interface MoreTabProps {
  readonly agentId: AgentId;
  readonly name: string;
  readonly retired: boolean;
}

function Threads({ agentId }: MoreTabProps) {
  return (
    <section aria-label={t`Threads`}>
      <h3>{t`Threads`}</h3>
      <QueryView query={useThreads().list}>
        {(list) => {
          const open = openThreadsOf(agentId, list);
          return (
            <>
              {open.length === 0 && <p className="ink-3">{t`No open thread.`}</p>}
              <OpenThreads open={open} agentId={agentId} />
            </>
          );
        }}
      </QueryView>
    </section>
  );
}

function Clients({ agentId }: MoreTabProps) {
  const team = useTeammates();
  return (
    <section aria-label={t`API clients`}>
      <h3>{t`API clients`}</h3>
      <CredentialList agentId={agentId} team={team} />
      <details className="agent-make">
        <summary className="text-2 pad-4-0">{t`Create a credential`}</summary>
        <MakeCredential among={[team.find(agentId)]} />
        <p className="gap-4 above-3 flex wrap text-2">
          <Link href={PATHS.settings('clients')}>{t`API clients`}</Link>
        </p>
      </details>
    </section>
  );
}

const ForgetDialog = lazy(() => import('../agent/forget-dialog.tsx'));

/** Exports an agent, and forgets it. */
function Keeping({ agentId, name }: { agentId: AgentId; name: string }) {
  const state = useRoost();
  const [asking, setAsking] = useState<'agent' | 'conversation' | null>(null);
  return (
    <section className="stack at-start gap-4" aria-label={t`Export and forget`}>
      <h3>{t`Export and forget`}</h3>
      <button
        type="button"
        className="ghost at-most-full clip ellipsis"
        onClick={() => void exportAgentFile(state, agentId, name)}
      >{t`Export as a zip`}</button>
      <button
        type="button"
        className="ghost at-most-full clip ellipsis"
        onClick={() => setAsking('conversation')}
      >{t`Forget this conversation…`}</button>
      {agentId !== LEAD_ID && (
        <button
          type="button"
          className="ghost ghost-danger at-most-full clip ellipsis"
          onClick={() => setAsking('agent')}
        >{`${t`Forget ${name}`}…`}</button>
      )}
      {asking && (
        <Suspense fallback={null}>
          <ForgetDialog agentId={agentId} kind={asking} onClose={() => setAsking(null)} />
        </Suspense>
      )}
    </section>
  );
}

/**
 * Everything else of an agent: inbox, threads, files, API clients, wake limits, and forgetting it.
 */
function MoreTab(props: MoreTabProps) {
  const { agentId, name, retired } = props;
  return (
    <div className="halves at-top gap-7 stack">
      <section aria-label={t`Inbox`}>
        <h3>{t`Inbox`}</h3>
        <Inbox agentId={agentId} name={name} first={NEWEST} />
        <p className="gap-4 above-3 flex wrap text-2">
          <Link href={PATHS.agentInbox(agentId)}>{t`Inbox`}</Link>
        </p>
      </section>
      <Threads {...props} />
      {!retired && (
        <section aria-label={t`Wakes`}>
          <h3>{t`Wakes`}</h3>
          <Budget agentId={agentId}>
            <Link href={PATHS.activity('wakes', agentId)}>{t`Show all`}</Link>
          </Budget>
        </section>
      )}
      <section aria-label={t`Files`}>
        <h3>{t`Files`}</h3>
        <p className="gap-4 above-3 flex wrap text-2">
          <Link href={PATHS.files(agentId)}>{t`Open the folder`}</Link>
        </p>
      </section>
      {!retired && <Clients {...props} />}
      <Keeping agentId={agentId} name={name} />
    </div>
  );
}

// Reads a value from the ledger for one component, again whenever `read` changes.

type Reading<Value> =
  | { readonly kind: 'reading' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'read'; readonly value: Value };

/**
 * `read`: a stable function for as long as its target is the same. The last value stays visible
 * during a reload.
 */
function useReading<Value>(read: () => Promise<Value>): readonly [Reading<Value>, again: () => void] {
  const [reading, setReading] = useState<Reading<Value>>({ kind: 'reading' });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let left = false;
    read().then(
      (value) => left || setReading({ kind: 'read', value }),
      (error: unknown) => left || setReading({ kind: 'failed', reason: errorText(error) }),
    );
    return () => {
      left = true;
    };
  }, [read, tries]);
  return [reading, useCallback(() => setTries((count) => count + 1), [])];
}

interface ReadingProps<Value> {
  readonly reading: Reading<Value>;
  readonly again: () => void;
  readonly children: (value: Value) => ReactNode;
}

function ReadingView<Value>({ reading, again, children }: ReadingProps<Value>) {
  if (reading.kind === 'reading') return <p className="query-loading ink-3 text-3" role="status">{t`Loading…`}</p>;
  if (reading.kind === 'read') return children(reading.value);
  return (
    <div className="wrong-note" role="alert">
      <p>
        <strong>{t`Could not load this.`}</strong> {reading.reason}
      </p>
      <button type="button" className="ghost" onClick={again}>{t`Try again`}</button>
    </div>
  );
}

/** Earlier versions listed at first, and added with each press. */
const LISTED = 12;

/** `3 lines new, 1 gone` */
function changeText(before: string, after: string): string {
  const lines = lineDiff(before, after);
  const count = (kind: 'new' | 'gone') => lines.filter((line) => line.kind === kind).length;
  return t`${plural(count('new'), 'line')} new, ${count('gone')} gone`;
}

/** One version of a soul: its changes, or the text of the first one. */
function Version({ version, earlier, current }: { version: Kept; earlier: Kept | null; current: boolean }) {
  const [open, setOpen] = useState(false);
  const title = earlier === null ? t`First words` : changeText(earlier.text, version.text);
  return (
    <li>
      <details className="earlier-soul ruled" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="touchable pad-4-0">
          <time className="ink" dateTime={new Date(version.time).toISOString()}>
            {fullTime(version.time)}
          </time>
          <span className="inline-block ink-3 text-2">{current ? `${title} · ${t`Now`}` : title}</span>
        </summary>
        {open && earlier !== null && <Diff before={earlier.text} after={version.text} />}
        {open && !current && (
          <>
            {earlier !== null && <h4 className="above-5 under-3 ink-3 text-1">{t`Full text then`}</h4>}
            <blockquote className="soul from-6">
              <Words text={version.text} />
            </blockquote>
          </>
        )}
      </details>
    </li>
  );
}

function Versions({ souls, name }: { souls: readonly Kept[]; name: string }) {
  const [listed, setListed] = useState(LISTED);
  if (souls.length < 2)
    return <p className="ink-3">{souls.length === 0 ? t`Nothing yet.` : t`${name} has not changed it since.`}</p>;
  return (
    <>
      <ol className="soul-versions ruled-below">
        {souls.slice(0, listed).map((version, i) => (
          <Version key={version.key} version={version} earlier={souls[i + 1] ?? null} current={i === 0} />
        ))}
      </ol>
      {souls.length > listed && (
        <button
          type="button"
          className="ghost older flex"
          onClick={() => setListed(listed + LISTED)}
        >{t`Earlier versions`}</button>
      )}
    </>
  );
}

function Names({ names }: { names: readonly Kept[] }) {
  if (names.length < 2) return null;
  return (
    <section aria-label={t`Names`}>
      <h3>{t`Names`}</h3>
      <ol className="name-history stack gap-2">
        {names.map((name) => (
          <li className="flex baseline apart wrap gap-x-4 agent-name ink" key={name.key}>
            <span dir="auto">{name.text}</span> <time className="ink-3 text-1">{fullTime(name.time)}</time>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Facts({ agent }: { agent: Agent }) {
  const roster = useHousehold((state) => state.roster);
  return (
    <section aria-label={t`Details`}>
      <h3>{t`Details`}</h3>
      <dl className="facts gap-5 stack">
        <dt className="ink-3">{t`Name`}</dt>
        <dd className="break ink text-end" dir="auto">
          {displayName(agent, roster)}
        </dd>
        <dt className="ink-3">{t`Colour`}</dt>
        <dd className="break ink text-end">
          <i className="swatch inline-block" aria-hidden="true" />
          {agent.colorName}
        </dd>
        {agent.position !== null && (
          <>
            <dt className="ink-3">{t`Seat`}</dt>
            <dd className="break ink text-end">{agent.position + 1}</dd>
          </>
        )}
        <dt className="ink-3">{t`Born`}</dt>
        <dd className="break ink text-end">{fullTime(agent.bornAt)}</dd>
        <dt className="ink-3">{t`Soul`}</dt>
        <dd className="break ink text-end">{bytes(bytesOf(agent.soul))}</dd>
      </dl>
      <details className="facts-ids">
        <summary className="text-2 above-4 pad-4-0">{t`Advanced`}</summary>
        <dl className="facts gap-5 stack">
          <dt className="ink-3">{t`Id`}</dt>
          <dd className="break ink text-end">
            <code>{agent.agentId}</code>
          </dd>
          {agent.bornSessionId && (
            <>
              <dt className="ink-3">{t`Born in session`}</dt>
              <dd className="break ink text-end">
                <code>{agent.bornSessionId}</code>
              </dd>
            </>
          )}
        </dl>
      </details>
    </section>
  );
}

/** Its soul, its memory, its dreams and exams, earlier versions, and other facts about it. */
function AboutTab({ agent }: { agent: Agent }) {
  const { dataWorker } = useRoost();
  const { agentId, soul, name } = agent;
  const identities = useHousehold((state) => state.identities);
  // Read again when something of it changes.
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const read = useCallback(() => dataWorker.call('changes', { agentId }), [dataWorker, agentId, soul, name]);
  const [reading, again] = useReading(read);
  const birth = birthOf(identities.values(), agentId);
  return (
    <div className="portrait-about stack">
      <div className="stack one-column rows-top">
        <Soul text={soul} name={name} folds={false} />
        {agentId !== LEAD_ID && soul !== '' && <ShareBirthButton agent={agent} />}
        <MemorySection agentId={agentId} name={name} />
        <DreamsSection agentId={agentId} name={name} />
        <ExamsSection agentId={agentId} name={name} />
        <section aria-label={t`Earlier versions`}>
          <h3>{t`Earlier versions`}</h3>
          <ReadingView reading={reading} again={again}>
            {(changes) => <Versions souls={soulsOf(birth, changes)} name={name} />}
          </ReadingView>
        </section>
      </div>
      <div className="portrait-side stack one-column rows-top">
        <Facts agent={agent} />
        {reading.kind === 'read' && <Names names={namesOf(birth, reading.value)} />}
      </div>
    </div>
  );
}

/** Periods per request. */
const PAGE = 30;

/** The midnight after the day in a date field, in the reader's zone; null: not a day. */
function endOfDay(day: string): number | null {
  const [, year, month, date] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []).map(Number);
  if (year === undefined || month === undefined || date === undefined) return null;
  const end = new Date(year, month - 1, date + 1).getTime();
  return end > 0 ? end : null;
}

/** A day in the format of a date field. */
const dayOf = (time: number): string => {
  const day = new Date(time);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
};

/**
 * One period awake: its start, its length and its subject, linked to that place of the
 * conversation.
 */
function WakingLine({ agentId, waking }: { agentId: AgentId; waking: Waking }) {
  const nameOf = useNames();
  const { from, until, messages, messageId, words, run, imported } = waking;
  const [span] = run === null ? [] : runSpansOf(run).values();
  return (
    <li>
      <Link
        href={PATHS.message(agentId, messageId)}
        className="waking lights gap-4 touchable unlined stack baseline ink-2 round pad-4-6"
      >
        <time className="named" dateTime={new Date(from).toISOString()}>
          <span>{clockTime(from)}</span>
          {clockTime(until) !== clockTime(from) && <span>{` – ${clockTime(until)}`}</span>}
        </time>
        <span className="waking-words break clamp clip ink clamp-2" dir="auto">
          {run !== null && (
            <b className="ink-2 text-2 block">
              <span>{span ? causeText(span.cause, nameOf) : t`works alone`}</span>
              {span?.end && span.end.outcome !== 'done' && <span>{` · ${outcomeText(span.end.outcome)}`}</span>}
            </b>
          )}
          {imported && (
            <b className="ink-2 text-2 block" dir="auto">
              {imported.isBranch
                ? t`${imported.from}: branch of ${shownText(imported.title)}`
                : t`${imported.from}: ${shownText(imported.title)}`}
            </b>
          )}
          {words && <span>{words.author === 'human' ? t`${t`You`}: ${words.text}` : words.text}</span>}
        </span>
        <small className="nowrap">{plural(messages, 'message')}</small>
      </Link>
    </li>
  );
}

/** Jumps to a day. */
function ToDay({ agentId, day }: { agentId: AgentId; day: string | null }) {
  const { device } = useRoost();
  const { go } = useRoute();
  const id = useId();
  return (
    <div className="to-day gap-4 cluster">
      <label htmlFor={id}>{t`Go to a day`}</label>
      <input
        id={id}
        type="date"
        className="field"
        max={dayOf(device.now())}
        value={day ?? ''}
        onChange={({ target }) => {
          if (target.value === '' || endOfDay(target.value) !== null)
            go(PATHS.portrait(agentId, 'conversations', target.value === '' ? null : target.value));
        }}
      />
      {day !== null && (
        <Link href={PATHS.portrait(agentId, 'conversations')} className="ghost">{t`To the newest`}</Link>
      )}
    </div>
  );
}

/** ms after a message until the tab reloads. Messages come in bursts. */
const READ_AGAIN_MS = 400;

interface Read {
  readonly wakings: readonly Waking[];
  readonly before: string | null;
}

/** Keeps older known rows behind the newest, as far as the two overlap. */
function withNewest(read: Read, newest: Read): Read {
  const ids = new Set(newest.wakings.map(({ id }) => id));
  const rest = read.wakings.filter(({ id }) => !ids.has(id));
  return rest.length === read.wakings.length ? newest : { wakings: [...newest.wakings, ...rest], before: read.before };
}

function Wakings({ agentId, name, first, end }: { agentId: AgentId; name: string; first: Read; end: number | null }) {
  const { dataWorker, notices } = useRoost();
  const now = useNow();
  const [{ known, newest: top }, setKnown] = useState({ known: first, newest: first });
  const { busy, act } = useAction();
  if (top !== first) setKnown({ known: withNewest(known, first), newest: first });
  const { wakings, before } = known;
  const more = () =>
    act(async () => {
      try {
        const page = await dataWorker.call('wakings', { agentId, before, upTo: null, limit: PAGE });
        setKnown(({ known: held, newest }) => ({
          known: { wakings: [...held.wakings, ...page.wakings], before: page.before },
          newest,
        }));
      } catch (error) {
        notices.error(t`Could not load this. ${errorText(error)}`);
      }
    });
  const [newest] = wakings;
  if (!newest)
    return (
      <p className="measure pad-7">
        {end === null
          ? t`No conversation with ${name} yet. Each one is listed here.`
          : t`No conversation with ${name} until that day.`}
      </p>
    );
  return (
    <>
      {end !== null && dayName(newest.from, now) !== dayName(end - 1, now) && (
        <p className="ink-3">{t`None on that day. Earlier:`}</p>
      )}
      {byDay(wakings, now, ({ from }) => from).map(({ day, items }) => (
        <section key={day} aria-label={day}>
          <h3>{day}</h3>
          <ol className="ruled-between one-column box stack ground-1">
            {items.map((waking) => (
              <WakingLine key={waking.id} agentId={agentId} waking={waking} />
            ))}
          </ol>
        </section>
      ))}
      {before !== null && (
        <button type="button" className="ghost older flex" aria-disabled={busy} onClick={more}>
          {busy ? t`Loading…` : t`Show more`}
        </button>
      )}
    </>
  );
}

/** The conversation with an agent by its periods awake. */
function ConversationsTab({ agentId, name, day }: { agentId: AgentId; name: string; day: string | null }) {
  const { dataWorker, device } = useRoost();
  const end = day === null ? null : endOfDay(day);
  const read = useCallback(
    async () => ({ first: await dataWorker.call('wakings', { agentId, before: null, upTo: end, limit: PAGE }), end }),
    [dataWorker, agentId, end],
  );
  const [reading, again] = useReading(read);
  // A past day has no news.
  const isLive = end === null || end > device.now();
  useEffect(() => {
    if (!isLive) return undefined;
    let cancel: (() => void) | null = null;
    const stop = dataWorker.subscribe((news) => {
      if (news.news !== 'documents' || !news.docs.some((doc) => doc['agentId'] === agentId)) return;
      cancel ??= device.after(READ_AGAIN_MS, () => {
        cancel = null;
        again();
      });
    });
    return () => {
      cancel?.();
      stop();
    };
  }, [dataWorker, device, agentId, again, isLive]);
  return (
    <div className="portrait-talks">
      <ToDay agentId={agentId} day={end === null ? null : day} />
      <ReadingView reading={reading} again={again}>
        {(value) => <Wakings key={value.end} agentId={agentId} name={name} {...value} />}
      </ReadingView>
    </div>
  );
}

const ChangeDialog = lazy(() => import('../agent/change-dialog.tsx'));

interface Props {
  readonly agentId: AgentId;
  readonly tab: PortraitTab;
  readonly day: string | null;
}

function shown(agent: Agent, name: string, { tab, day }: Props): ReactNode {
  const { agentId, retired } = agent;
  switch (tab) {
    case 'about':
      return <AboutTab agent={agent} />;
    case 'conversations':
      return <ConversationsTab agentId={agentId} name={name} day={day} />;
    case 'activity':
      return <ActivityLog kind="all" agentId={agentId} />;
    case 'costs':
      return (
        <div className="measure gap-6 stack">
          <AgentCosts agentId={agentId} name={name} />
          <p className="gap-4 above-3 flex wrap text-2">
            <Link href={PATHS.activity('costs')}>{t`Costs`}</Link>
          </p>
        </div>
      );
    case 'more':
      return <MoreTab agentId={agentId} name={name} retired={retired} />;
    default:
      return tab satisfies never;
  }
}

/** An agent's own page: identity, conversations, activity, costs, and everything else. */
export default function PortraitPage(props: Props) {
  const { agentId, tab } = props;
  const { go } = useRoute();
  const [changing, setChanging] = useState(false);
  const agent = useHousehold((state) => state.roster.byId.get(agentId));
  const somebody = useSomebody(agentId);
  const close = () => go(PATHS.agent(agentId));
  // Its conversation explains why there is no agent, or none yet, and what can be done.
  if (!agent || somebody.kind === 'nobody' || somebody.kind === 'egg')
    return <Redirect to={PATHS.agent(agentId)} replace />;
  const { name, face, color, awake } = somebody;
  const title = TAB_TITLES.find((one) => one.tab === tab)?.title ?? '';
  return (
    <div className="portrait page one-column stack ink-2 tint" style={{ '--c': color }}>
      <div className="portrait-head gap-7 stack middle cols-auto-fill">
        <span className="portrait-face both-centred pad-5 stack" data-asleep={somebody.asleep}>
          <Face agentId={agentId} face={face} color={color} awake={awake} />
        </span>
        <div>
          <PageHead title={name} pageTitle={`${name}: ${title}`} onClose={close}>
            <button type="button" className="ghost" onClick={() => setChanging(true)}>{t`Change`}</button>
          </PageHead>
          <p className="above-2">{stateText(somebody)}</p>
        </div>
      </div>
      <Tabs
        label={t`About ${name}`}
        tabs={TAB_TITLES.map((one) => ({ ...one, path: PATHS.portrait(agentId, one.tab) }))}
        shown={tab}
      >
        <h2 className="visually-hidden">{title}</h2>
        {shown(agent, name, props)}
      </Tabs>
      {changing && (
        <Suspense fallback={null}>
          <ChangeDialog agentId={agentId} onClose={() => setChanging(false)} />
        </Suspense>
      )}
    </div>
  );
}
