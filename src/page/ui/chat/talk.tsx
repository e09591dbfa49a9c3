/** The conversation view: log, suggested first messages and composer. */
import { useCallback, useMemo, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import type { MessageDoc } from '../../../shared/protocol/documents.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import { t } from '../../language/t.ts';
import { openAnswerOf } from '../../state/answers.ts';
import type { Withdrawn } from '../../state/outbox/index.ts';
import type { Pages } from '../../state/pages.ts';
import { writingStopped } from '../../state/relay-info.ts';
import {
  useActions,
  useAnswers,
  useConversations,
  useHousehold,
  useInfo,
  useLive,
  usePending,
  useRoost,
  useUnread,
} from '../context.tsx';
import { Face } from '../grid/face.tsx';
import { SeatFigure } from '../grid/seat-figure.tsx';
import { whereWordsGo } from '../text/answering.ts';
import { useRehearsing } from '../models/chip.tsx';
import { ShareBirthButton } from '../agent/share-birth-button.tsx';
import { EXAMPLES } from '../welcome/examples.ts';
import { FoundBar } from '../palette/found-bar.tsx';
import { optional, Part } from '../parts/part.tsx';
import { useRoute } from '../routes.ts';
import { handsFree } from '../voice/support.ts';
import { QuoteInto, type Speaker } from './message.tsx';
import { Composer, type Field } from './composer.tsx';
import { ConversationLog, lastQuestion } from './conversation-log.tsx';
import { Skeleton } from './conversation.tsx';
import { useReachesFound, useReachesNew } from './scrolling.ts';
import './first-words.css';

/** Suggested first messages. The person sends them or not. */
const OPENERS = [
  t`How did you come to your name?`,
  t`What would you like to be asked about?`,
  t`What have you been turning over?`,
];

function hint(
  speaker: Speaker,
  born: number,
  running: boolean,
  calling: boolean,
): { title: string; text: string | null } {
  const { name } = speaker;
  if (speaker.kind === 'egg')
    return {
      title: t`Somebody is on the way`,
      text: t`The first words appear here.`,
    };
  if (speaker.kind === 'seatless')
    return { title: name, text: t`There is no seat for this agent now. Give it one under Settings, Team.` };
  if (speaker.kind === 'lead') {
    if (born === 0 && calling)
      return {
        title: t`${name} calls the team`,
        text: t`Each finds its own name, and what it thinks aloud becomes its soul.`,
      };
    if (born === 0)
      return {
        title: t`${name} waits for you`,
        text: null,
      };
    return running
      ? { title: t`${name} is awake`, text: t`${name} leads the team, and hears what you write here.` }
      : { title: t`${name} sleeps`, text: null };
  }
  if (speaker.awake) return { title: t`${name} is awake`, text: t`No other agent receives what you write here.` };
  if (speaker.seat.state === 'hatching') return { title: t`${name} is waking`, text: t`The first words appear here.` };
  if (speaker.seat.state === 'driven')
    return {
      title: t`${name} is driven by ${speaker.seat.client?.name ?? t`a program`}`,
      text: whereWordsGo(name, speaker.seat),
    };
  return {
    title: t`${name} sleeps`,
    text: null,
  };
}

function EmptyLog({ speaker, onPick }: { speaker: Speaker; onPick: (text: string) => void }) {
  const born = useHousehold((state) => state.roster.seats.size);
  const running = useLive((state) => state.live !== null);
  const calling = usePending(({ call }) => call === 'summon');
  const { title, text } = hint(speaker, born, running, calling);
  const rehearsing = useRehearsing();
  const ofLead = rehearsing ? demoWords(speaker, undefined) : EXAMPLES;
  const openers = !speaker.awake ? [] : speaker.kind === 'lead' ? ofLead : OPENERS;
  return (
    <div className="empty-log centred-column centred stack tint balanced" style={{ '--c': speaker.color }}>
      <div className="empty-figure under-6" data-asleep={speaker.asleep} aria-hidden="true">
        {speaker.kind === 'agent' || speaker.kind === 'egg' ? (
          <SeatFigure seat={speaker.seat} />
        ) : (
          <Face agentId={speaker.agentId} face={speaker.face} color={speaker.color} awake={speaker.awake} />
        )}
      </div>
      <h3 className="named">{title}</h3>
      {text !== null && <p className="ink-2 above-4">{text}</p>}
      {openers.length > 0 && (
        <ul className="flex wrap gap-4 centred-row above-6">
          {openers.map((opener) => (
            <li key={opener}>
              <button
                type="button"
                className="chip touchable text-start framed-strong no-fill rounded text-2 ink-2 pad-3-5"
                onClick={() => onPick(opener)}
              >
                {opener}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

// Suggested first messages. After a new agent has hatched, the page suggests the next step. In a
// demo, it shows what can be asked.

/** Requests that the demo mind really carries out, in the languages of the page. */
function demoWords(speaker: Speaker, other: string | undefined): readonly string[] {
  return [
    t`Remember this: the bridge is blue.`,
    t`What did I tell you?`,
    ...(other === undefined ? [] : [t`Tell ${other} that the bridge is safe.`, t`Wake ${other}: come and see.`]),
    ...(speaker.kind === 'lead' ? [] : [t`Go to sleep.`]),
  ];
}

export function FirstWords({
  speaker,
  messages,
  onPick,
}: {
  speaker: Speaker;
  messages: readonly MessageDoc[];
  onPick: (text: string) => void;
}) {
  const rehearsing = useRehearsing();
  const other = useHousehold(({ roster }) => {
    for (const agent of roster.seats.values())
      if (agent.agentId !== speaker.agentId && agent.agentId !== LEAD_ID) return agent.name;
    return undefined;
  });
  const agent = useHousehold(({ roster }) => roster.byId.get(speaker.agentId));
  const spoken = messages.some(({ author }) => author === 'human');
  if (!speaker.awake || messages.length === 0 || (spoken && !rehearsing)) return null;
  const words = rehearsing ? demoWords(speaker, other) : EXAMPLES;
  const title = rehearsing ? t`In this demo you can try` : t`Ask ${speaker.name}, for example`;
  return (
    <section className="first-words line gap-5 narrow" aria-label={title}>
      <h3 className="fixed ink-3 text-2 semi-medium">{title}</h3>
      <ul className="flex gap-4 narrow">
        {words.map((text) => (
          <li className="fixed" key={text}>
            <button
              type="button"
              className="chip touchable text-start framed-strong no-fill rounded text-2 ink-2 nowrap pad-3-5"
              onClick={() => onPick(text)}
            >
              {text}
            </button>
          </li>
        ))}
      </ul>
      {!spoken && agent && speaker.kind === 'agent' && <ShareBirthButton agent={agent} />}
    </section>
  );
}

const WaitingApprovals = optional(() => import('../approvals/waiting-approvals.tsx'));
const HandsFree = optional(() => import('../voice/hands-free.tsx'));
const ProposedRoutines = optional(() => import('../routines/proposed.tsx'));

function composerHint(speaker: Speaker): string | null {
  const { name } = speaker;
  if (speaker.kind === 'lead') return speaker.awake ? null : t`${name} sleeps, and will read this on waking.`;
  return speaker.kind === 'agent' ? whereWordsGo(name, speaker.seat) : null;
}

/** The message in the address, and whether the conversation is loaded up to it. */
function useFoundMessage(
  agentId: AgentId,
  pages: Pages,
  loaded: boolean,
): readonly [at: string | null, found: boolean] {
  const { conversations } = useRoost();
  const { route } = useRoute();
  const at = route.kind === 'agent' && route.agentId === agentId ? route.at : null;
  const messages = () => conversations.store.getState().byAgent.get(agentId)?.messages ?? [];
  const isThere = () => messages().some(({ messageId }) => messageId === at);
  return [at, useReachesFound({ pages }, { at, loaded, isThere })];
}

/** The conversation with an agent, and the composer. */
export default function Talk({ speaker }: { speaker: Speaker }) {
  const { agentId } = speaker;
  const {
    conversations,
    household,
    live: { store },
  } = useRoost();
  const actions = useActions();
  const conversation = useConversations((state) => state.byAgent.get(agentId));
  const byVoice = useStore(handsFree, (state) => state.agentId === agentId);
  const answering = useAnswers((state) => openAnswerOf(state, agentId) !== undefined);
  const blocked = useInfo(writingStopped);
  const [editing, setEditing] = useState<MessageDoc | null>(null);
  const field = useRef<Field>(null);
  const known = useUnread((state) => state.known);
  const newFrom = useUnread((state) => state.begins.get(agentId) ?? null);
  const pages = useMemo(() => conversations.pages(agentId), [conversations, agentId]);
  const { status = 'loading', before = null, reading = 'nothing', messages = [] } = conversation ?? {};
  const ready = useReachesNew(
    { pages, more: before !== null, reading },
    {
      loaded: known && status === 'ready',
      short: newFrom !== null && (messages[0]?.at ?? '') > newFrom,
      read: messages.length,
    },
  );
  /** Arrow up: the last question of a session is edited in place. An earlier one is sent again. */
  const last = (): string | null => {
    const { live } = store.getState();
    const question = speaker.awake && !answering ? lastQuestion(messages, live?.sessionId ?? null) : null;
    if (question) {
      setEditing(question);
      return null;
    }
    const said = messages.findLast(({ author, blocks }) => author === 'human' && textOf(blocks) !== '');
    const queued = household.store.getState().queued.findLast((doc) => doc.agentId === agentId);
    if (queued && queued.time > (said?.time ?? 0)) return queued.text;
    return said ? textOf(said.blocks) : null;
  };
  const add = useCallback((text: string) => field.current?.add(text), []);
  const putBack = useCallback(({ text, files }: Withdrawn) => field.current?.add(text, files), []);
  const [at, found] = useFoundMessage(agentId, pages, status === 'ready');

  if (!conversation || conversation.status === 'loading') return <Skeleton />;
  if (conversation.status === 'failed')
    return (
      <div className="chat-nobody gap-4 stack at-start ink-2" role="alert">
        <h2 className="ink">{t`Could not load this.`}</h2>
        <p>{t`${conversation.error} If it stays so, press Rebuild in Settings, Devices and data.`}</p>
        <button type="button" className="ghost" onClick={() => void conversations.open(agentId)}>{t`Try again`}</button>
      </div>
    );

  if (!ready) return <Skeleton />;
  if (!found) return <Skeleton label={t`Going to that message`} />;

  const writable = speaker.kind !== 'seatless' && speaker.kind !== 'egg';
  const earlier = editing !== null && messages.findLast(({ author }) => author === 'human') !== editing;
  const edit = editing ? { text: textOf(editing.blocks), earlier, cancel: () => setEditing(null) } : null;
  return (
    <QuoteInto value={writable ? add : null}>
      <ConversationLog
        // Remounts for each message that is searched for.
        key={at ?? ''}
        at={at}
        speaker={speaker}
        conversation={conversation}
        empty={<EmptyLog speaker={speaker} onPick={add} />}
        onEdit={setEditing}
        onWithdrawn={putBack}
      />
      <Part>
        <FoundBar />
        <FirstWords speaker={speaker} messages={messages} onPick={add} />
        <WaitingApprovals agentId={agentId} />
        <ProposedRoutines agentId={agentId} />
        {byVoice && <HandsFree agentId={agentId} name={speaker.name} />}
      </Part>
      {speaker.kind !== 'seatless' && (
        <Composer
          key={editing?.messageId ?? 'draft'}
          ref={field}
          draft={agentId}
          label={speaker.kind === 'egg' ? t`First it needs a name` : t`Write to ${speaker.name}…`}
          hint={blocked ? t`Nothing can be kept on this device now. Your text stays here.` : composerHint(speaker)}
          disabled={speaker.kind === 'egg'}
          answering={answering && speaker.kind !== 'egg'}
          edit={edit}
          attachesFor={agentId}
          along={editing?.attachments?.length ?? 0}
          onSend={(text, _mentions, files) => {
            void actions.send(agentId, text, editing?.messageId, { files, attachments: editing?.attachments });
            setEditing(null);
          }}
          onStop={() => void actions.stop(agentId)}
          onLast={last}
        />
      )}
    </QuoteInto>
  );
}
