import { use, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { ThreadId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { Thread } from '../../../shared/protocol/threads.ts';
import { Composer, type Field } from '../chat/composer.tsx';
import { QuoteInto } from '../chat/message-menu.tsx';
import { Skeleton } from '../chat/skeleton.tsx';
import { useReachesFound } from '../chat/use-reaches-found.ts';
import { useReachesNew } from '../chat/use-reaches-new.ts';
import { Words } from '../chat/words.tsx';
import { useHousehold, useRoost, useUnread } from '../context.tsx';
import { FoundBar } from '../palette/found-bar.tsx';
import { OpensFind } from '../palette/opens.ts';
import { copyText } from '../parts/copy.ts';
import { BackIcon, MoreIcon } from '../parts/icons.tsx';
import { MenuButton } from '../parts/menu.tsx';
import { printOpen } from '../parts/printing.ts';
import { PATHS, useRoute } from '../routes.ts';
import { names } from '../text/sizes.ts';
import { fullTime } from '../text/time.ts';
import { PLAIN_COLOR, useTeammates, type Teammate, type Teammates } from '../use-teammates.ts';
import { useTitle } from '../use-title.ts';
import { CloseDialog } from './close-dialog.tsx';
import { Faces } from './faces.tsx';
import { ThreadActivity } from './thread-activity.tsx';
import { ParticipantsDialog } from './participants-dialog.tsx';
import { ThreadLog } from './thread-log.tsx';
import type { ThreadTalk, ThreadTalkState } from '../../state/threads/index.ts';
import { useNewInThread, useTalk } from './use-threads.ts';
import { problemText } from '../../state/ports.ts';

/**
 * Null: not known yet. `newFrom`: the last place that was read when it was opened; null: nothing
 * was new.
 */
type OpenedThread = { readonly newFrom: number | null } | null;

/**
 * Where a thread opens, as it stood then; and moves its mark to what is on the screen from then on.
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
  // What was read of it when it was open before says nothing of what is new now.
  const loaded = known && thread !== null && (!stale || problem !== null);
  const ready = useReachesNew({ pages, more, reading }, { loaded, short, read: messages.length });
  if (opened === null && ready) setOpened({ newFrom: news ? mark : null });

  const last = messages.at(-1)?.sequence ?? 0;
  const isOpen = opened !== null;
  useEffect(() => {
    const look = () => {
      if (!document.hidden && isOpen && last > 0) unread.lookAtThread(threadId, last);
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
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
  const who = people.length === 0 ? t`Nobody takes part` : names(people.map(({ name }) => name));
  const ended = thread.closed !== null;
  const title = useRef<HTMLHeadingElement>(null);
  useTitle(thread.title);
  useEffect(() => {
    const held = document.activeElement;
    // On a phone the list that had the focus is out of sight now.
    if (takeFocus && (held === null || held === document.body || held.getClientRects().length === 0))
      title.current?.focus();
  }, [takeFocus]);
  return (
    <header className="chat-head thread-head">
      <Link href={PATHS.threads} className="icon-button thread-back" aria-label={t`All threads`}>
        <BackIcon />
      </Link>
      <div className="chat-title">
        <h2 ref={title} dir="auto" tabIndex={-1}>
          {thread.title}
        </h2>
        <ThreadActivity
          thread={thread}
          messages={messages}
          people={people}
          otherwise={
            <p dir="auto" title={t`Begun by ${nameOf(thread.createdBy, team)}, ${fullTime(thread.createdAt)}`}>
              {ended && <span>{'closed · '}</span>}
              {who}
            </p>
          }
        />
      </div>
      {!ended && (
        <button
          type="button"
          className="ghost thread-people"
          aria-label={t`Who takes part: ${who}`}
          onClick={() => setOpen('participants')}
        >
          <Faces people={people} />
          <span className="hide-small">{t`Who takes part`}</span>
        </button>
      )}
      <MenuButton
        label={t`More about this thread`}
        items={[
          { label: t`Find in this thread`, run: () => find({ threadId: thread.threadId }) },
          { label: t`Print this thread`, run: () => void printOpen() },
          ...(ended
            ? []
            : [
                { label: t`Add or remove somebody…`, run: () => setOpen('participants') },
                { label: t`Close with a summary…`, run: () => setOpen('close') },
              ]),
          { label: t`Begin another with the same`, run: () => go(PATHS.newThread(thread.participants)) },
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
    <div className="thread-closed" role="note">
      <p>{t`Closed by ${nameOf(closed.by, team)}, ${fullTime(closed.time)}.`}</p>
      {closed.summary !== '' && (
        <div className="thread-summary">
          <Words text={closed.summary} />
        </div>
      )}
    </div>
  );
}

function toldOf(mentioned: readonly Teammate[]): string {
  if (mentioned.length === 0) return t`Who takes part reads it when awake; who is mentioned is told of it.`;
  const whom = names(mentioned.map(({ name }) => name));
  return mentioned.length === 1
    ? t`${whom} is told of it, and may be woken by it.`
    : t`${whom} are told of it, and may be woken by it.`;
}

/**
 * One thread: what was said, and a place to write. `takeFocus`: the person went to it from
 * elsewhere on the page.
 */
export function ThreadView({
  threadId,
  at,
  takeFocus,
}: {
  threadId: ThreadId;
  /** The message that is looked for. */
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
    return <Skeleton label={t`Reading the thread`} />;
  if (!found && thread) return <Skeleton label={t`Going to that message`} />;
  if (!thread) {
    const gone = state.problem?.kind === 'refused' && state.problem.status === 404;
    return (
      <div className="chat-nobody" role="alert">
        <h2>{gone ? t`There is no such thread` : t`This thread could not be read`}</h2>
        <p>{gone ? t`The link was cut short, or the relay has lost what it kept.` : (state.problem?.message ?? '')}</p>
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
        <p className="thread-stale" role="status">
          {t`What is new could not be read: ${problemText(state.problem)}`}{' '}
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
        onTakeBack={add}
      />
      <FoundBar />
      {thread.closed ? (
        <Closed closed={thread.closed} team={team} />
      ) : (
        <Composer
          ref={field}
          draft={`thread:${threadId}`}
          label={t`Write in ${thread.title}`}
          placeholder={t`Write here; @ mentions`}
          hint={toldOf}
          people={team.among(thread.participants)}
          onSend={(text, mentions) => void talk.send(text, mentions)}
          onLast={() => state.messages.findLast(({ from }) => from === 'human')?.text ?? null}
        />
      )}
    </QuoteInto>
  );
}
