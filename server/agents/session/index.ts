/**
 * The session host runs the relay's one session, from its start to its end. See `SessionHost` in
 * contract.ts.
 */
import { createListeners } from '../../../src/shared/domain/platform/events.ts';
import type { AgentId, MessageId } from '../../../src/shared/domain/ids.ts';
import type { EndReason } from '../../../src/shared/protocol/documents.ts';
import type { PostMessage } from '../../../src/shared/protocol/http.ts';
import type { MoreForAgent, PostOutcome, SessionHost } from './contract.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { Rest } from '../runs/context.ts';
import type { SessionHostDeps } from './context.ts';
import { SESSION_LIMITS } from './settings.ts';
import { parseTeamCall } from '../../../src/shared/domain/wake-payload.ts';
import { sizeOfWake } from './size-of-wake.ts';
import { askStore, runMadeUpWake, standIns } from './warm.ts';
import { closeSession, openSession, type Running } from './open-session.ts';

export { createAgreedChanges } from './changes.ts';
export { createSoulTools } from './soul-tools.ts';
export { createWakePayloads, type WakePayloads } from './wake-payloads.ts';

const NO_SESSION: PostOutcome = {
  ok: false,
  reason: 'no-session',
  detail: 'No session runs. Start one first. Until then every agent sleeps.',
};

export function createSessionHost(deps: SessionHostDeps): SessionHost {
  const { log, inbox, directory, pauses, wakePayloads, limits = SESSION_LIMITS, waiting } = deps;
  let current: Running | null = null;
  /** Starts and ends run one after another. */
  const inTurn = createQueue();
  /**
   * Posts under way, by the client's id. A repeat that arrives at the same time joins the first
   * call.
   */
  const posts = new Map<string, Promise<PostOutcome>>();
  const turnEnds = createListeners<[AgentId]>();
  /**
   * Withdrawn messages, oldest first. A client that did not receive the answer repeats its request.
   */
  const withdrawn = new Set<MessageId>();
  let onPersonWake: (agentId: AgentId, callId: string) => Promise<void> = () => Promise.resolve();
  // An agent that is resumed reads what the person wrote in the meantime.
  pauses.subscribe(({ agentId, paused }) => {
    if (!paused) open()?.session.inboxChanged(agentId);
  });

  const rest: Rest = {
    isPaused: (agentId) => pauses.isPaused(agentId),
    // An agent that is paused when the session ends is asked nothing more in it.
    untilResumed: async (agentId, signal) => (await pauses.wait(agentId, { signal, limitMs: Infinity })) !== 'ended',
  };

  function end(reason: EndReason): Promise<boolean> {
    return inTurn(async () => {
      const running = current;
      if (!running) return false;
      try {
        await (running.ending ??= closeSession(deps, running, reason, posts));
      } finally {
        current = null;
      }
      return true;
    });
  }

  const ofSession = {
    rest,
    turnEnded: turnEnds.tell,
    onPersonWake: (agentId: AgentId, callId: string) => onPersonWake(agentId, callId),
    end,
  };

  /** The session, unless it is ending. */
  const open = () => (current?.ending ? null : current);

  async function post(message: PostMessage, more?: MoreForAgent): Promise<PostOutcome> {
    const written = await log.written(message.clientId);
    if (written !== null) return { ok: true, eventId: written };
    const running = open();
    if (!running) return NO_SESSION;
    running.touch();
    return running.session.post(message, more);
  }

  return {
    async warm(warmMind, signal) {
      await askStore(deps);
      let problem: unknown = null;
      const nobody = standIns(deps, warmMind, (error) => (problem ??= error));
      await runMadeUpWake(createSessionHost(nobody), nobody.log, signal);
      if (problem !== null) throw new Error('A session without a listener failed.', { cause: problem });
    },
    async sizeOfWake({ start, text }, signal) {
      const parsed = parseTeamCall(text, await directory.all());
      if (!parsed.ok) return { ok: false, detail: `This is no call to the team that can be read: ${parsed.reason}.` };
      const { call } = parsed;
      if (call.kind !== 'wake') return { ok: false, detail: 'Only a call that wakes agents is measured.' };
      const running = open();
      const requests = await sizeOfWake(
        {
          deps,
          createHost: createSessionHost,
          start: running?.request ?? start,
          call,
          leadHas: running?.session.leadHas() ?? 0,
        },
        signal,
      );
      return { ok: true, requests };
    },
    start: (request, lists) =>
      inTurn(async () => {
        if (current) return { ok: false, sessionId: current.sessionId };
        if (request.after !== undefined && request.ahead !== true && log.isAhead(request.after))
          return { ok: false, sessionId: null };
        if (request.after !== undefined) log.follow(request.after);
        current = await openSession(deps, ofSession, request, lists);
        return { ok: true, sessionId: current.sessionId };
      }),
    end,
    bring: (payload) =>
      open()?.session.bring(payload) ?? Promise.resolve({ ok: false, detail: 'No session is running.' }),
    post(message, more) {
      const same = posts.get(message.clientId);
      if (same) return same;
      const mine = post(message, more).finally(() => posts.delete(message.clientId));
      posts.set(message.clientId, mine);
      return mine;
    },
    async withdraw(messageId) {
      if (withdrawn.has(messageId)) return true;
      if (open()?.session.withdraw(messageId) !== true && !(await inbox.withdrawForPerson(messageId))) return false;
      withdrawn.add(messageId);
      for (const [oldest] of withdrawn.entries()) {
        if (withdrawn.size <= limits.withdrawn) break;
        withdrawn.delete(oldest);
      }
      wakePayloads.withdrawn(messageId);
      return true;
    },
    correctSummary: (messageId, text) => open()?.session.correctSummary(messageId, text),
    stop: (agentId) => Promise.resolve(open()?.session.stop(agentId) ?? false),
    sleep: (agentId) => open()?.session.sleep(agentId) ?? Promise.resolve(false),
    sessionId: () => open()?.sessionId ?? null,
    changeSettings(next) {
      const running = open();
      running?.changeSettings(next);
      if (running) running.request = { ...running.request, settings: { ...running.request.settings, ...next } };
      return running !== null;
    },
    modelOf: (agentId) => open()?.session.modelOf(agentId) ?? null,
    stateOf: (agentId) => open()?.session.stateOf(agentId) ?? 'absent',
    runOf: (agentId) => open()?.session.runOf(agentId) ?? null,
    rouse: (agentId, why) => open()?.session.rouse(agentId, why) ?? Promise.resolve(false),
    newborn: (agentId) => open()?.session.newborn(agentId) ?? null,
    joined: (agent, client) => open()?.session.joined(agent, client) ?? Promise.resolve(),
    left: (credentialId) => open()?.session.left(credentialId),
    waiting: waiting.now,
    clientCalls: waiting.begin,
    onWaiting: waiting.subscribe,
    cutOff: (sentence) => open()?.session.cut({ by: 'database', error: sentence }),
    onTurnEnd: turnEnds.subscribe,
    recordPersonWakes(record) {
      onPersonWake = record;
    },
  };
}
