/**
 * Souls and last conversations that the relay holds while a session runs. They come with the
 * session's start and with each WAKE or birth, and include later changes. They live in the
 * browsers, and the relay deletes them when the session ends.
 */
import type { AgentId, MessageId } from '../../../src/shared/domain/ids.ts';
import { applicationText } from '../../../src/shared/domain/applications.ts';
import { shownName } from '../../../src/shared/domain/names.ts';
import { LEAD_ID } from '../../../src/shared/domain/seat.ts';
import { withSeatWhereAlike } from '../../../src/shared/domain/prompts.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import { talkText } from '../../../src/shared/domain/talk.ts';
import { renderTranscript, type TranscriptMessage } from '../../../src/shared/domain/transcript.ts';
import type { AgentPayload } from '../../../src/shared/domain/wake-payload.ts';
import type { EventOf, StoredEvent } from '../../../src/shared/protocol/events.ts';
import type { StartSession } from '../../../src/shared/protocol/http.ts';
import type { WokenTalk } from '../minds/mind.ts';
import type { EventLog } from '../../log/index.ts';
import type { Directory } from '../../team/directory/index.ts';

export interface WakePayloads {
  /** A session begins. The data of an earlier one is deleted. */
  begin(request: Pick<StartSession, 'human' | 'lead'>): void;
  /** The person wakes an agent. The page has sent its soul and its last conversation. */
  called(payload: Pick<AgentPayload, 'id' | 'name' | 'soul' | 'transcript' | 'asleepSince'>): void;
  /** The name of the running session's person; null: no session runs. */
  human(): string | null;
  /** Undefined: unknown here. Null: the agent has none. */
  soulOf(agentId: AgentId): string | null | undefined;
  /**
   * Its last conversations and its messages in this session, '' if there are none; null: unknown
   * here.
   */
  conversationOf(agentId: AgentId): Promise<string | null>;
  /**
   * The conversation it woke with, and the messages since; null: it was not called in this session.
   */
  talkOf(agentId: AgentId): WokenTalk | null;
  /** The person has withdrawn this message. No agent has read it. */
  withdrawn(messageId: MessageId): void;
  close(): void;
}

export interface WakePayloadsDeps {
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly directory: Pick<Directory, 'all'>;
  /** Characters of an agent's messages in this session that are stored. */
  readonly conversationChars: number;
}

interface Said {
  readonly messageId: MessageId;
  readonly author: string;
  readonly time: number;
  readonly text: string;
  readonly addressed: boolean;
}
interface Talk {
  /** The transcript in the call. */
  readonly transcript: string | null;
  readonly asleepSince: number | null;
  /** Messages since then, oldest first. */
  said: readonly Said[];
  /** Number of earlier messages that are not stored. */
  earlier: number;
  /** A message was replaced. */
  changed: boolean;
}

const SINCE = '=== In this session ===';

export function createWakePayloads({ log, directory, conversationChars }: WakePayloadsDeps): WakePayloads {
  const souls = new Map<string, string | null>();
  const talks = new Map<string, Talk>();
  /** Names as people read them, by author. */
  const names = new Map<string, string>();

  function clear(): void {
    souls.clear();
    talks.clear();
    names.clear();
  }

  function knows({
    id,
    name,
    soul,
    transcript,
    asleepSince = null,
  }: Pick<AgentPayload, 'id' | 'name' | 'soul' | 'transcript'> & { readonly asleepSince?: number | null }): void {
    names.set(id, name);
    souls.set(id, soul);
    talks.set(id, { transcript, asleepSince, said: [], earlier: 0, changed: false });
  }

  function hear({
    agentId,
    sessionId,
    messageId,
    author,
    role,
    time,
    blocks,
    attachments,
    replaces,
  }: EventOf<'message'>): void {
    const talk = talks.get(agentId);
    // A run outside the session is no part of this conversation, even while the session runs.
    if (!talk || sessionId === null) return;
    const replaced = replaces === null ? -1 : talk.said.findIndex((said) => said.messageId === replaces);
    talk.changed ||= replaces !== null;
    const remaining = replaced < 0 ? talk.said : talk.said.slice(0, replaced);
    const text = talkText({ agentId, author, role, blocks, attachments });
    const said =
      text === '' ? [...remaining] : [...remaining, { messageId, author, time, text, addressed: author !== agentId }];
    // The newest message always stays. It is cut when it is used.
    for (
      let chars = said.reduce((sum, each) => sum + each.text.length, 0);
      chars > conversationChars && said.length > 1;
      talk.earlier += 1
    )
      chars -= said.shift()?.text.length ?? 0;
    talk.said = said;
  }

  function change({ agentId, change }: EventOf<'agent-changed'>): void {
    if (change.kind === 'rename') names.set(agentId, shownName(change.name, agentId === LEAD_ID ? 'lead' : 'agent'));
    else souls.set(agentId, change.individuationArtifact);
  }

  const stop = log.subscribe(({ event }: StoredEvent) => {
    if (event.kind === 'message') hear(event);
    else if (event.kind === 'agent-born')
      knows({ id: event.agentId, name: event.name, soul: event.soul, transcript: null });
    else if (event.kind === 'agent-changed') change(event);
    else if (event.kind === 'session-ended') clear();
  });

  return {
    begin({ human, lead }) {
      clear();
      names.set(PERSON, shownName(human.name, 'person')).set('relay', 'Roost');
      knows({ id: LEAD_ID, name: shownName(lead.name, 'lead'), soul: lead.soul, transcript: lead.transcript });
    },
    called: knows,
    human: () => names.get(PERSON) ?? null,
    soulOf: (agentId) => souls.get(agentId),
    async conversationOf(agentId) {
      const team = await directory.all();
      const seats = new Map(team.map(({ agentId: id, position }) => [id, position]));
      const called = [...new Map([...team.map(({ agentId: id, name }) => [id, name] as const), ...names])].map(
        ([id, name]) => ({ agentId: id, name, position: seats.get(id) ?? null }),
      );
      const talk = talks.get(agentId);
      if (!talk) return null;
      const { transcript, said, earlier } = talk;
      const messages = said.map(({ author, time, text }): TranscriptMessage => ({
        author: called.some((one) => one.agentId === author)
          ? withSeatWhereAlike(called, author)
          : (applicationText(author) ?? 'somebody'),
        time,
        text,
      }));
      const since = renderTranscript(
        [{ kind: 'talk', addressed: said.some(({ addressed }) => addressed), messages, earlier }],
        conversationChars,
      );
      return [transcript ?? '', since && since.kept > 0 ? `${SINCE}\n\n${since.text}` : '']
        .filter((part) => part !== '')
        .join('\n\n');
    },
    talkOf(agentId) {
      const talk = talks.get(agentId);
      if (!talk) return null;
      const { transcript, asleepSince, said, earlier, changed } = talk;
      return { soul: souls.get(agentId) ?? null, transcript, asleepSince, said, whole: earlier === 0 && !changed };
    },
    withdrawn(messageId) {
      for (const talk of talks.values()) talk.said = talk.said.filter((said) => said.messageId !== messageId);
    },
    close: stop,
  };
}
