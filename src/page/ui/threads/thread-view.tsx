/** One thread: head, participants, log and composer. */
import { type FormEvent, memo, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useShallow } from 'zustand/react/shallow';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import type { Thread, ThreadMessage } from '../../../shared/protocol/threads.ts';
import type { AgentId, ThreadId } from '../../../shared/domain/ids.ts';
import { withoutThinking } from '../../../shared/domain/thinking.ts';
import { mentionedIn, mentionId } from '../../../shared/domain/mentions.ts';
import { retold, t } from '../../language/t.ts';
import { wakeQueries } from '../../state/wakes.ts';
import { openAnswerOf } from '../../state/answers.ts';
import { threadItems } from '../../state/conversation-log.ts';
import type { ThreadTalk, ThreadTalkState } from '../../state/threads/index.ts';
import { problemText } from '../../state/ports.ts';
import { Dialog } from '../design/dialog.tsx';
import { asBeginning, count, names } from '../text/sizes.ts';
import { useAnswers, useHousehold, useOutbox, useRoost, useUnread } from '../context.tsx';
import { Face } from '../grid/face.tsx';
import { namedIn, PLAIN_COLOR, type Teammate, type Teammates, useTeammates } from '../use-somebody.ts';
import { ActivityLine, Steps } from '../chat/activity.tsx';
import { doingOf, type Growing, isAbout } from '../chat/doing.ts';
import { DayDivider, NewDivider } from '../chat/dividers.tsx';
import { Log, type ShowRow } from '../chat/log.tsx';
import { Chip, Mentioned, PersonWords, Words } from '../chat/markdown.tsx';
import { Bubble, FoldButton, QuoteInto, ShownParts, type Speaker } from '../chat/message.tsx';
import type { Stretch } from '../chat/parts.ts';
import { Unsent } from '../chat/unsent.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { useNow, useQuery, useTitle } from '../hooks.ts';
import { Composer, type Field } from '../chat/composer.tsx';
import { Skeleton } from '../chat/conversation.tsx';
import { useReachesFound, useReachesNew } from '../chat/scrolling.ts';
import { FoundBar } from '../palette/found-bar.tsx';
import { OpensFind } from '../palette/typed-ahead.ts';
import { copyText } from '../parts/copyable-text.tsx';
import { BackIcon, MoreIcon } from '../design/icons.tsx';
import { MenuButton } from '../design/menu.tsx';
import { fullTime } from '../text/time.ts';
import { useNewInThread, useTalk, useThreads } from './use-threads.ts';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

/** Asks for a summary, and closes the thread with it. */
function CloseDialog({ thread, onClose }: { thread: Thread; onClose: () => void }) {
  const threads = useThreads();
  const [summary, setSummary] = useState('');
  const { busy, failed, act } = useAction();
  const long = summary.trim().length > LIMITS.threadSummary;
  const close = (event: FormEvent) => {
    event.preventDefault();
    if (long) return;
    act(async () => {
      const done = await threads.close(thread.threadId, summary.trim());
      return done.ok ? onClose() : t`Could not do this. ${done.reason}`;
    });
  };
  return (
    <Dialog title={t`Close the thread`} onClose={onClose}>
      <form className="thread-form gap-5 stack ink-2 text-3" onSubmit={close}>
        <p>{t`Nobody can write in it afterwards. This cannot be undone.`}</p>
        <label>
          <span className="block under-3 medium ink">{t`Summary (optional)`}</span>
          <textarea
            className="field"
            rows={5}
            dir="auto"
            value={summary}
            aria-invalid={long}
            onChange={(event) => setSummary(event.target.value)}
          />
        </label>
        {long && <p className="wrong-note" role="alert">{t`At most ${count(LIMITS.threadSummary)} characters.`}</p>}
        <WrongNote text={failed} />
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button type="submit" className="solid" disabled={busy || long}>
            {busy ? t`Working…` : t`Close the thread`}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Person({ who, act, busy, onAct }: { who: Teammate; act: string; busy: boolean; onAct: () => void }) {
  return (
    <li className="line gap-5 pad-3-0 tint" style={{ '--c': who.color }}>
      <Face agentId={who.agentId} face={who.face} color={who.color} awake={false} />
      <span className="fill break named agent-name" dir="auto">
        {who.name}
      </span>
      <button
        type="button"
        className="ghost"
        aria-label={`${act} ${who.name}`}
        aria-disabled={busy}
        onClick={() => !busy && onAct()}
      >
        {act}
      </button>
    </li>
  );
}

/** The participants of a thread, and the agents that can be added. */
function ParticipantsDialog({ thread, team, onClose }: { thread: Thread; team: Teammates; onClose: () => void }) {
  const { notices } = useRoost();
  const threads = useThreads();
  const { busy, act } = useAction();
  const inside = team.among(thread.participants);
  const outside = team.all.filter(({ agentId, retired }) => !retired && !thread.participants.includes(agentId));
  const change = (work: () => ReturnType<typeof threads.add>, said: string, undo: () => void): void =>
    act(async () => {
      const done = await work();
      if (done.ok) notices.info(said, { label: t`Undo`, run: undo });
      else notices.error(t`Could not do this. ${done.reason}`);
    });
  const add = (who: Teammate): void =>
    change(
      () => threads.add(thread.threadId, who.agentId),
      t`${who.name} was added.`,
      () => remove(who),
    );
  const remove = (who: Teammate): void =>
    change(
      () => threads.remove(thread.threadId, who.agentId),
      t`${who.name} removed.`,
      () => add(who),
    );
  return (
    <Dialog title={t`Members`} onClose={onClose}>
      <div className="gap-4 stack text-3">
        {inside.length === 0 && <p className="ink-3">{t`no members`}</p>}
        <ul className="ruled-between">
          {inside.map((who) => (
            <Person key={who.agentId} who={who} act={t`Remove`} busy={busy} onAct={() => remove(who)} />
          ))}
        </ul>
        {outside.length > 0 && (
          <>
            <h3 className="eyebrow ink-3 text-1">{t`Others`}</h3>
            <ul className="ruled-between">
              {outside.map((who) => (
                <Person key={who.agentId} who={who} act={t`Add`} busy={busy} onAct={() => add(who)} />
              ))}
            </ul>
          </>
        )}
        <p className="setting-hint">{t`New members can read everything from before.`}</p>
      </div>
    </Dialog>
  );
}

// The agents at work on a thread, in the line under its title.

/** ms after a mention within which an answer counts as caused by it. */
const OF_THIS = 5 * 60_000;

/** Did it begin because the agent was mentioned here, and has it said nothing here since? */
function isAsked({ startedAt }: Growing, agentId: string, messages: readonly ThreadMessage[]): boolean {
  const last = messages.findLast(({ from, mentions }) => from === agentId || mentions.includes(agentId));
  const since = last === undefined || last.from === agentId ? Infinity : startedAt - last.time;
  return since >= 0 && since < OF_THIS;
}

function ThreadActivity({
  thread: { threadId, title, closed },
  messages,
  people,
  otherwise,
}: {
  thread: Thread;
  messages: readonly ThreadMessage[];
  people: readonly Teammate[];
  /** Shown while no agent is at work. */
  otherwise: ReactNode;
}) {
  const answers = useAnswers((state) => state);
  const nameOf = namedIn(useTeammates());
  const atWork = (closed ? [] : people).flatMap(({ agentId, name }) => {
    const answer = openAnswerOf(answers, agentId);
    return answer && (isAbout(answer, threadId) || isAsked(answer, agentId, messages))
      ? [{ agentId, who: name, answer, ...doingOf(answer, nameOf) }]
      : [];
  });
  if (atWork.length === 0) return otherwise;
  return (
    <ActivityLine label={t`Activity in ${title}`} doing={atWork}>
      {atWork.map((one) => (
        <section key={one.agentId} className="activity-who" aria-label={one.who}>
          <h3 dir="auto">{one.who}</h3>
          <Steps agentId={one.agentId} answer={one.answer} doing={one} />
        </section>
      ))}
    </ActivityLine>
  );
}

const speakerOf = ({ agentId, name, face, color, retired }: Teammate): Speaker => ({
  kind: 'seatless',
  agentId,
  name,
  face,
  color,
  awake: false,
  asleep: true,
  retired,
});

/** One message of a thread. */
const Said = memo(function Said({
  threadId,
  message,
  stretch,
  team,
  me,
  readBy,
  woken,
  onFold,
}: {
  threadId: ThreadId;
  message: ThreadMessage;
  stretch: Stretch;
  team: Teammates;
  me: Teammate;
  /**
   * For the person's latest message: its readers, as a sentence; null: another message shows them.
   */
  readBy: string | null;
  /** What its mentions did, as sentences. */
  woken: readonly string[];
  onFold: (key: string) => void;
}) {
  const { messageId, text, time, restored } = message;
  const mine = message.from === 'human';
  const from = mine ? me : team.find(message.from);
  const mentioned = useMemo(() => message.mentions.map(team.find), [message, team]);
  const named = mentionedIn(text, mentioned);
  const unnamed = stretch.first ? mentioned.filter(({ agentId }) => !named.includes(agentId)) : [];
  const foot = stretch.last && (
    <>
      {mine && <FoldButton stretch={stretch} itemKey={messageId} onFold={onFold} />}
      {woken.map((sentence) => (
        <p key={sentence} className="msg-status gap-4 above-3 text-2 flex wrap ink-3">
          {sentence}
        </p>
      ))}
      {readBy !== null && <p className="msg-status gap-4 above-3 text-2 flex wrap ink-3">{readBy}</p>}
      {restored && <p className="msg-status gap-4 above-3 text-2 flex wrap ink-3">{t`Returned to the relay`}</p>}
    </>
  );
  return (
    <Bubble
      speaker={speakerOf(from)}
      time={time}
      mine={mine}
      foot={foot}
      kept={{ text: () => (mine ? text : withoutThinking(text)), path: PATHS.threadMessage(threadId, messageId) }}
      first={stretch.first}
      last={stretch.last}
    >
      {unnamed.length > 0 && (
        <p className="under-3 flex wrap gap-2 ink-3 text-2">
          <span>{t`For`}</span>{' '}
          {unnamed.map((who) => (
            <Chip key={who.agentId} who={who} />
          ))}
        </p>
      )}
      <Mentioned value={mentioned}>
        {mine ? <PersonWords parts={stretch.parts} /> : <ShownParts parts={stretch.parts} />}
      </Mentioned>
    </Bubble>
  );
});

/** The participants that have read up to this sequence, have written after it, or answer now. */
function readByText(
  { messages, read, thread }: ThreadTalkState,
  sequence: number,
  answering: readonly AgentId[],
  team: Teammates,
): string {
  const has = (agentId: AgentId) =>
    (read[agentId] ?? 0) >= sequence ||
    answering.includes(agentId) ||
    messages.some((said) => said.from === agentId && said.sequence > sequence);
  const readers = team.among((thread?.participants ?? []).filter(has)).map(({ name }) => name);
  return readers.length === 0 ? asBeginning(t`not read yet`) : t`Read by ${names(readers)}`;
}

const NONE: readonly string[] = [];
const NOBODY: readonly Teammate[] = [];

/** By message: which agents its mentions woke, or why not. Newest wakes only. */
function useWoken(messages: readonly ThreadMessage[], team: Teammates): ReadonlyMap<string, readonly string[]> {
  const feed = useQuery(wakeQueries(useRoost()).wakes(null));
  const wakes = feed.kind === 'ready' ? feed.value.rows : null;
  return useMemo(() => {
    const byMessage = new Map<string, readonly string[]>();
    const asked = (wakes ?? []).filter(({ way }) => way === 'thread_mention');
    for (const { messageId, mentions } of messages) {
      const sentences = mentions.flatMap((agentId) => {
        const decision = asked.find(
          (wake) => wake.target === agentId && wake.messageId === mentionId(messageId, agentId),
        );
        if (!decision) return [];
        const { name } = team.find(agentId);
        return decision.outcome === 'granted'
          ? [t`${name} was woken by this mention`]
          : [t`${name} was not woken: ${retold(decision.detail)}`];
      });
      if (sentences.length > 0) byMessage.set(messageId, sentences);
    }
    return byMessage;
  }, [wakes, messages, team]);
}

interface Props {
  readonly state: ThreadTalkState;
  readonly talk: ThreadTalk;
  readonly threadId: ThreadId;
  readonly title: string;
  readonly team: Teammates;
  readonly me: Teammate;
  /** The last read sequence when the thread was opened; null: nothing was unread. */
  readonly newFrom: number | null;
  /** The message at which it opens; null: the first unread one, or the end. */
  readonly at: string | null;
  readonly onWithdraw: (text: string) => void;
}

/** The messages of a thread. */
function ThreadLog({ state, talk, threadId, title, team, me, newFrom, at, onWithdraw }: Props) {
  const { messages, more, reading } = state;
  const { outbox } = useRoost();
  const sending = useOutbox(
    useShallow((items) => items.flatMap((item) => (item.to === 'thread' && item.threadId === threadId ? [item] : []))),
  );
  const now = useNow();
  const items = useMemo(() => threadItems({ messages, sending, newFrom }), [messages, sending, newFrom]);
  const again = useCallback((clientId: string) => void outbox.retry(clientId), [outbox]);
  const withdraw = useCallback(
    (clientId: string) => {
      const taken = outbox.withdraw(clientId);
      if (taken) onWithdraw(taken.text);
    },
    [outbox, onWithdraw],
  );
  const mine = messages.findLast(({ from }) => from === 'human');
  const answering = useAnswers(
    useShallow((answers) =>
      (state.thread?.participants ?? []).filter((agentId) => {
        const answer = openAnswerOf(answers, agentId);
        return answer && isAsked(answer, agentId, messages);
      }),
    ),
  );
  const readBy = mine ? readByText(state, mine.sequence, answering, team) : null;
  const woken = useWoken(messages, team);
  const show = useCallback<ShowRow>(
    ({ item, stretch }, onFold) => {
      switch (item.kind) {
        case 'day':
          return <DayDivider time={item.time} now={now} />;
        case 'new':
          return <NewDivider />;
        case 'said':
          return (
            stretch && (
              <Said
                threadId={threadId}
                message={item.message}
                stretch={stretch}
                team={team}
                me={me}
                readBy={item.message === mine ? readBy : null}
                woken={woken.get(item.message.messageId) ?? NONE}
                onFold={onFold}
              />
            )
          );
        case 'sending': {
          const of = { sending: item.sending, speaker: speakerOf(me), onFold, onAgain: again, onWithdraw: withdraw };
          return (
            stretch && (
              <Mentioned value={item.sending.to === 'thread' ? item.sending.mentions.map(team.find) : NOBODY}>
                <Unsent stretch={stretch} {...of} />
              </Mentioned>
            )
          );
        }
        case 'sleep':
        case 'run':
        case 'message':
        case 'open':
        case 'queued':
          return null;
        default:
          return item satisfies never;
      }
    },
    [now, threadId, team, me, mine, readBy, woken, again, withdraw],
  );
  const newest = messages.findLast(({ from }) => from !== 'human');
  return (
    <Log
      label={t`Messages in ${title}`}
      items={items}
      sent={sending.at(-1)?.clientId ?? null}
      show={show}
      paging={{ pages: talk.pages, more, reading }}
      read={messages.length}
      beginning={t`${title} begins here.`}
      found={messages.some(({ messageId }) => messageId === at) ? at : null}
      empty={<p className="thread-quiet ink-3">{t`Nothing yet.`}</p>}
      newest={
        newest
          ? {
              messageId: newest.messageId,
              name: team.find(newest.from).name,
              words: () => withoutThinking(newest.text),
            }
          : null
      }
      isThere={(id) => messages.some(({ messageId }) => messageId === id)}
    />
  );
}

/** Faces that are shown before the rest is a number. */
const MOST = 4;

/** The participants as faces. Decorative: their names stand beside them. */
export function Faces({ people }: { people: readonly Teammate[] }) {
  const shown = people.length > MOST ? people.slice(0, MOST - 1) : people;
  return (
    <span className="faces middle fixed inline-flex" aria-hidden="true">
      {shown.map(({ agentId, face, color }) => (
        <Face key={agentId} agentId={agentId} face={face} color={color} awake={false} />
      ))}
      {shown.length < people.length && <i className="ink-3 text-1">+{people.length - shown.length}</i>}
    </span>
  );
}

/**
 * null: unknown yet. `newFrom`: the last read sequence when it was opened; null: nothing was
 * unread.
 */
type OpenedThread = { readonly newFrom: number | null } | null;

/**
 * Decides the position at which a thread opens. From then on, moves its read mark along with what
 * is on screen.
 */
function useOpenedThread(
  threadId: ThreadId,
  { thread, messages, more, reading, stale, problem }: ThreadTalkState,
  { pages }: ThreadTalk,
): OpenedThread {
  const { unread } = useRoost();
  const known = useUnread((state) => state.known);
  const mark = useUnread((state) => state.threads.byThread.get(threadId) ?? 0);
  const newIn = useNewInThread();
  const [opened, setOpened] = useState<OpenedThread>(null);
  const news = thread !== null && newIn(thread) > 0;
  const short = news && (messages[0]?.sequence ?? 0) > mark + 1;
  // Messages loaded at an earlier visit do not show what is unread now.
  const loaded = known && thread !== null && (!stale || problem !== null);
  const ready = useReachesNew({ pages, more, reading }, { loaded, short, read: messages.length });
  if (opened === null && ready) setOpened({ newFrom: news ? mark : null });

  const last = messages.at(-1)?.sequence ?? 0;
  const isOpen = opened !== null;
  useEffect(() => {
    const markInView = () => {
      if (!document.hidden && isOpen && last > 0) unread.viewThread(threadId, last);
    };
    markInView();
    document.addEventListener('visibilitychange', markInView);
    return () => document.removeEventListener('visibilitychange', markInView);
  }, [unread, threadId, last, isOpen]);
  useEffect(() => () => unread.leaveThread(threadId), [unread, threadId]);
  return opened;
}

const nameOf = (id: string, team: Teammates) => (id === 'human' ? t`you` : team.find(id).name);

function Head({
  thread,
  messages,
  team,
  takeFocus,
}: {
  thread: Thread;
  messages: ThreadTalkState['messages'];
  team: Teammates;
  takeFocus: boolean;
}) {
  const state = useRoost();
  const find = use(OpensFind);
  const { go } = useRoute();
  const [open, setOpen] = useState<'participants' | 'close' | null>(null);
  const people = team.among(thread.participants);
  const memberNames = people.length === 0 ? t`no members` : names(people.map(({ name }) => name));
  const ended = thread.closed !== null;
  const title = useRef<HTMLHeadingElement>(null);
  useTitle(thread.title);
  useEffect(() => {
    const held = document.activeElement;
    // On a phone, the list that had the focus is now hidden.
    if (takeFocus && (held === null || held === document.body || held.getClientRects().length === 0))
      title.current?.focus();
  }, [takeFocus]);
  return (
    <header className="chat-head line gap-4 thread-head ruled-below pad-4-6">
      <Link href={PATHS.threads} className="icon-button thread-back" aria-label={t`All threads`}>
        <BackIcon />
      </Link>
      <div className="chat-title fill">
        <h2 ref={title} dir="auto" tabIndex={-1}>
          {thread.title}
        </h2>
        <ThreadActivity
          thread={thread}
          messages={messages}
          people={people}
          otherwise={
            <p dir="auto" title={t`Begun by ${nameOf(thread.createdBy, team)}, ${fullTime(thread.createdAt)}`}>
              {ended && <span>{t`closed`} · </span>}
              {memberNames}
            </p>
          }
        />
      </div>
      {!ended && (
        <button
          type="button"
          className="ghost thread-people"
          aria-label={t`${t`Members`}: ${memberNames}`}
          onClick={() => setOpen('participants')}
        >
          <Faces people={people} />
          <span className="hide-small">{t`Members`}</span>
        </button>
      )}
      <MenuButton
        label={t`More about ${thread.title}`}
        items={[
          { label: t`Find in this thread`, run: () => find({ threadId: thread.threadId }) },
          ...(ended
            ? []
            : [
                { label: `${t`Members`}…`, run: () => setOpen('participants') },
                { label: `${t`Close the thread`}…`, run: () => setOpen('close') },
              ]),
          { label: t`New thread with the same members`, run: () => go(PATHS.newThread(thread.participants)) },
          {
            label: t`Copy link`,
            run: () => void copyText(state, new URL(PATHS.thread(thread.threadId), location.href).href, t`Link`),
          },
        ]}
      >
        <MoreIcon />
      </MenuButton>
      {open === 'participants' && <ParticipantsDialog thread={thread} team={team} onClose={() => setOpen(null)} />}
      {open === 'close' && <CloseDialog thread={thread} onClose={() => setOpen(null)} />}
    </header>
  );
}

function Closed({ closed, team }: { closed: NonNullable<Thread['closed']>; team: Teammates }) {
  return (
    <div className="thread-closed scroll ruled stack gap-4 ink-3 text-2" role="note">
      <p>{t`Closed by ${nameOf(closed.by, team)}, ${fullTime(closed.time)}.`}</p>
      {closed.summary !== '' && (
        <div className="indented measure ink text-4">
          <Words text={closed.summary} />
        </div>
      )}
    </div>
  );
}

function toldOf(mentioned: readonly Teammate[]): string {
  if (mentioned.length === 0) return t`Name an agent with @ to notify it.`;
  const whom = names(mentioned.map(({ name }) => name));
  return t`Notified, and may wake: ${whom}`;
}

/**
 * One thread: its messages and a composer. `takeFocus`: the person came from elsewhere on the page.
 */
export function ThreadView({
  threadId,
  at,
  takeFocus,
}: {
  threadId: ThreadId;
  /** The message that is searched for. */
  at: string | null;
  takeFocus: boolean;
}) {
  const [state, talk] = useTalk(threadId);
  const team = useTeammates();
  const humanName = useHousehold((household) => household.settings.humanName);
  const opened = useOpenedThread(threadId, state, talk);
  const found = useReachesFound(talk, {
    at,
    loaded: state.kind === 'ready',
    isThere: () => talk.store.getState().messages.some(({ messageId }) => messageId === at),
  });
  const field = useRef<Field>(null);
  const me = useMemo(
    () => ({ agentId: 'human', name: humanName, face: humanName, color: PLAIN_COLOR, retired: false }),
    [humanName],
  );
  const add = useCallback((text: string) => field.current?.add(text), []);
  const { thread } = state;

  if (state.kind === 'loading' || (state.kind === 'ready' && (!thread || opened === null)))
    return <Skeleton label={t`Loading…`} />;
  if (!found && thread) return <Skeleton label={t`Going to that message`} />;
  if (!thread) {
    const gone = state.problem?.kind === 'refused' && state.problem.status === 404;
    return (
      <div className="chat-nobody gap-4 stack at-start ink-2" role="alert">
        <h2 className="ink">{gone ? t`Not found` : t`Could not load this.`}</h2>
        <p>{gone ? t`It was deleted, or the link was cut short.` : (state.problem?.message ?? '')}</p>
        <div className="dialog-ways">
          {!gone && <button type="button" className="ghost" onClick={() => void talk.again()}>{t`Try again`}</button>}
          <Link href={PATHS.threads} className="ghost">{t`All threads`}</Link>
        </div>
      </div>
    );
  }

  return (
    <QuoteInto value={thread.closed ? null : add}>
      <Head thread={thread} messages={state.messages} team={team} takeFocus={takeFocus} />
      {state.problem && (
        <p className="chat-reason warn text-2" role="status">
          {t`Could not load this. ${problemText(state.problem)}`}{' '}
          <button type="button" className="link-button" onClick={() => void talk.again()}>{t`Try again`}</button>
        </p>
      )}
      <ThreadLog
        key={at ?? ''}
        at={at}
        state={state}
        talk={talk}
        threadId={threadId}
        title={thread.title}
        team={team}
        me={me}
        newFrom={opened?.newFrom ?? null}
        onWithdraw={add}
      />
      <FoundBar />
      {thread.closed ? (
        <Closed closed={thread.closed} team={team} />
      ) : (
        <Composer
          ref={field}
          draft={`thread:${threadId}`}
          label={t`Write in ${thread.title}`}
          placeholder={t`Write in ${thread.title}`}
          hint={toldOf}
          people={team.among(thread.participants)}
          onSend={(text, mentions) => void talk.send(text, mentions)}
          onLast={() => state.messages.findLast(({ from }) => from === 'human')?.text ?? null}
        />
      )}
    </QuoteInto>
  );
}
