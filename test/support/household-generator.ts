/**
 * A household as years leave it behind: one lead, eight agents, sessions every few hours, and in
 * them messages of the lengths that people and agents write. The same seed gives the same
 * documents, id for id, whatever is taken from them; they come in batches, so that nobody has to
 * hold all of them.
 *
 * `messages` were said over `sessions`; after those comes one more session, in which each of the
 * eight says and hears `lastSession` messages: that is what they take along when they wake, the
 * same behind any number of years.
 */
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import { LEAD_COLOR, LEAD_ID, LEAD_POSITION, SEAT_ORDER, seatColor } from '../../src/shared/domain/seat.ts';
import type { Block, Doc, MessageDoc } from '../../src/shared/protocol/documents.ts';
import { createProse, type Prose } from './household-prose.ts';
import { createRandom } from './random.ts';

export interface HouseholdPlan {
  readonly seed: number;
  /** Said in all sessions but the last. */
  readonly messages: number;
  /** Default: one for every hundred messages. */
  readonly sessions?: number;
  /** Messages of each of the eight in the last session. Default 200. */
  readonly lastSession?: number;
  /**
   * Sessions after that in which all eight greet, and nobody says anything to them. Default none.
   */
  readonly idle?: number;
  /** Documents at once, at least. Default 1,000. */
  readonly batch?: number;
}

const LAST_SESSION = 200;
const BATCH = 1_000;
const MESSAGES_A_SESSION = 100;
/** 2024-01-01; sessions begin every seven hours from here. */
const START = Date.UTC(2024, 0, 1);
const EVERY = 7 * 60 * 60 * 1_000;
/** ms between two messages, at most. */
const PACE = 60_000;
/** What happens how often; of messages, unless it says otherwise. */
const CHANCE = {
  edit: 0.01,
  waiting: 0.02,
  tools: 0.08,
  stopped: 0.01,
  renameInSession: 0.05,
  soulInSession: 0.03,
  queuedInSession: 0.04,
} as const;
const MODELS = ['claude-sonnet-4-5', 'claude-opus-4-1'] as const;

export const AGENTS = SEAT_ORDER.map((position) => ({
  agentId: `agent-${position}`,
  position,
  name: `Agent ${position}`,
}));
/** Everyone who has a conversation. */
export const CONVERSATIONS: readonly string[] = [LEAD_ID, ...AGENTS.map(({ agentId }) => agentId)];

/** The whole household, in batches of `batch` documents or a few more. */
export function* generateHousehold(plan: HouseholdPlan): Generator<readonly Doc[]> {
  const {
    seed,
    messages,
    sessions = Math.max(1, Math.round(messages / MESSAGES_A_SESSION)),
    lastSession = LAST_SESSION,
    idle = 0,
    batch = BATCH,
  } = plan;
  const random = createRandom(seed);
  const write = createWriter(random, createProse(random));
  let held: Doc[] = write.birth();
  for (let n = 0; n <= sessions + idle; n++) {
    const share = Math.floor(((n + 1) * messages) / sessions) - Math.floor((n * messages) / sessions);
    const docs =
      n < sessions
        ? write.session(n, share)
        : n === sessions
          ? write.lastSession(n, lastSession)
          : write.idleSession(n);
    for (const doc of docs) {
      held.push(doc);
      if (held.length < batch) continue;
      yield held;
      held = [];
    }
  }
  if (held.length > 0) yield held;
}

function createWriter(random: () => number, prose: Prose) {
  let time = START;
  let made = 0;
  const chance = (of: number) => random() < of;
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const pick = <T>(of: readonly [T, ...T[]] | readonly T[], otherwise: T): T =>
    of[Math.floor(random() * of.length)] ?? otherwise;
  const base = () => ({ schema: 1, at: formatStamp({ time, counter: made++ % 1_000_000, node: 'years' }) });
  const pass = () => {
    time += between(1_000, PACE);
  };

  function change(
    agentId: string,
    what: { kind: 'rename'; name: string } | { kind: 'soul'; individuationArtifact: string },
  ): Doc {
    return { _id: `agent-change:${agentId}:${made}`, type: 'agent-change', ...base(), agentId, change: what };
  }

  function toolBlock(): Block {
    const name = pick(['read_file', 'search', 'ask_agent'], 'search');
    return {
      kind: 'tool',
      toolUseId: `tool-${made}`,
      name,
      input: { query: prose(between(10, 80)), limit: between(1, 50) },
      result: prose(between(40, 1_200)),
      isError: chance(0.05),
    };
  }

  function message(
    sessionId: string,
    agentId: string,
    from: 'human' | 'lead' | 'agent',
    more: { replaces?: string; clientId?: string; waiting?: true } = {},
  ): MessageDoc {
    pass();
    const own = from === 'agent';
    const messageId = `m-${made}`;
    const blocks: Block[] = [{ kind: 'text', text: prose.message() }];
    if (own && chance(CHANCE.tools)) blocks.push(toolBlock(), { kind: 'text', text: prose.message() });
    return {
      _id: `message:${messageId}`,
      type: 'message',
      ...base(),
      messageId,
      sessionId,
      agentId,
      author: own ? agentId : from,
      role: own ? 'assistant' : 'user',
      blocks,
      status: own && chance(CHANCE.stopped) ? 'stopped' : 'complete',
      error: null,
      usage: own
        ? {
            model: pick(MODELS, MODELS[0]),
            inputTokens: between(500, 40_000),
            outputTokens: between(20, 900),
            cacheReadTokens: between(0, 20_000),
            cacheWriteTokens: 0,
          }
        : null,
      time,
      clientId: more.clientId ?? (from === 'human' ? `client-${made}` : null),
      replaces: more.replaces ?? null,
      ...(more.waiting === true ? { waiting: true } : {}),
    };
  }

  const start = (sessionId: string): Doc => ({
    _id: `session:${sessionId}:start`,
    type: 'session',
    ...base(),
    sessionId,
    phase: { kind: 'start', startedAt: time, mind: 'anthropic', model: MODELS[0] },
  });
  const end = (sessionId: string): Doc => ({
    _id: `session:${sessionId}:end`,
    type: 'session',
    ...base(),
    sessionId,
    phase: { kind: 'end', endedAt: time, reason: pick(['ended', 'ended', 'idle', 'crash'] as const, 'ended') },
  });

  return {
    birth(): Doc[] {
      const born = [
        { agentId: LEAD_ID, position: LEAD_POSITION, name: 'Julian', ...LEAD_COLOR },
        ...AGENTS.map((agent) => ({ ...agent, ...seatColor(agent.position) })),
      ];
      const identities = born.map(({ agentId, position, name, color, colorName }): Doc => ({
        _id: `agent-identity:${agentId}`,
        type: 'agent-identity',
        ...base(),
        agentId,
        name,
        color,
        colorName,
        position,
        individuationArtifact: agentId === LEAD_ID ? '' : prose(between(800, 4_000)),
        bornAt: time,
        bornSessionId: agentId === LEAD_ID ? null : 'session-0',
      }));
      const setting = (key: string, value: unknown): Doc => ({
        _id: `setting:${key}:${made}`,
        type: 'setting',
        ...base(),
        key,
        value,
      });
      return [...identities, setting('humanName', 'Ada'), setting('leadName', 'Julian')];
    },

    /** A session of this many messages, in the conversations of a few of the team. */
    *session(number: number, count: number): Generator<Doc> {
      time = Math.max(time + PACE, START + number * EVERY);
      const sessionId = `session-${number}`;
      yield start(sessionId);
      const there = [LEAD_ID, ...AGENTS.map(({ agentId }) => agentId).filter(() => chance(0.5))];
      /** What the person asked last, by conversation: only that can be edited. */
      const asked = new Map<string, string>();
      const one = pick(AGENTS, AGENTS[0] ?? { agentId: LEAD_ID, position: 0, name: '' });
      const queued = count > 0 && chance(CHANCE.queuedInSession);
      const most = queued ? count - 1 : count;
      for (let said = 0; said < most;) {
        const agentId = pick(there, LEAD_ID);
        const before = asked.get(agentId);
        const edited = before !== undefined && chance(CHANCE.edit) ? { replaces: before } : {};
        const waits = chance(CHANCE.waiting) ? ({ waiting: true } as const) : {};
        const question = message(sessionId, agentId, agentId === LEAD_ID || chance(0.7) ? 'human' : 'lead', {
          ...edited,
          ...waits,
        });
        yield question;
        said += 1;
        if (question.author === 'human') asked.set(agentId, question.messageId);
        if (question['waiting'] === true)
          yield {
            _id: `message-read:${question.messageId}`,
            type: 'message-read',
            ...base(),
            messageId: question.messageId,
            agentId,
            sessionId,
            time,
          };
        if (said === most) break;
        yield message(sessionId, agentId, 'agent');
        said += 1;
      }
      if (chance(CHANCE.renameInSession))
        yield change(one.agentId, { kind: 'rename', name: `${one.name} ${prose(between(3, 8)).trim()}` });
      if (chance(CHANCE.soulInSession))
        yield change(one.agentId, { kind: 'soul', individuationArtifact: prose(between(800, 6_000)) });
      if (queued) {
        const clientId = `queued-${made}`;
        yield {
          _id: `queued-message:${clientId}`,
          type: 'queued-message',
          ...base(),
          clientId,
          agentId: one.agentId,
          text: prose(80),
          time,
        };
        yield message(sessionId, one.agentId, 'human', { clientId });
      }
      yield end(sessionId);
    },

    /** Everyone's last session: as many messages for each, by turns, and nothing else. */
    *lastSession(number: number, each: number): Generator<Doc> {
      time = Math.max(time + PACE, START + number * EVERY);
      const sessionId = `session-${number}`;
      yield start(sessionId);
      for (let n = 0; n < each; n++)
        for (const { agentId } of AGENTS) yield message(sessionId, agentId, n % 2 === 0 ? 'human' : 'agent');
      yield end(sessionId);
    },

    /** Everyone wakes and greets. */
    *idleSession(number: number): Generator<Doc> {
      time = Math.max(time + PACE, START + number * EVERY);
      const sessionId = `session-${number}`;
      yield start(sessionId);
      for (const { agentId } of AGENTS) yield message(sessionId, agentId, 'agent');
      yield end(sessionId);
    },
  };
}
