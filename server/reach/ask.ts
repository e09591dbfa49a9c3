/**
 * The one road to the gate. Whatever wants an agent awake calls `ask`; nothing else in the relay calls the
 * gate, and nothing else clears a sleeping flag or begins a turn for messages. Granted, the agent's flag is cleared
 * and a turn begins in which it is given what waits; deferred, it is asked again when the agent's turn ends.
 */
import type { WakeReason, WakeWay } from '../../src/domain/guardrails.ts';
import type { AgentId, MessageId } from '../../src/domain/ids.ts';
import type { WakeSource } from '../../src/protocol/wakes.ts';
import type {
  AgentState,
  Alone,
  Directory,
  DueCause,
  Gate,
  Inbox,
  Reach,
  SessionHost,
  Pauses,
  WakeAsked,
} from '../contracts.ts';
import { wokenBy } from './words.ts';
import type { Logger } from '../runs/context.ts';

export interface AskDeps {
  readonly gate: Gate;
  readonly pauses: Pauses;
  readonly inbox: Pick<Inbox, 'count'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly host: SessionHost;
  readonly alone: Alone;
  readonly logger: Logger;
}

interface Deferred {
  readonly source: WakeSource;
  readonly way: WakeWay;
  readonly reason: WakeReason | null;
  readonly messageId: MessageId | null;
  readonly due: DueCause | undefined;
}

/** Who asks, as an event names it. */
const nameOf = (source: WakeSource): string =>
  source.kind === 'agent' ? source.agentId : source.kind === 'person' ? 'human' : source.name;

/** Deferred wakes remembered for one agent: what waits is all read in one turn, so the newest stands for all of them. */
export function createAsk({ gate, pauses, inbox, directory, host, alone, logger }: AskDeps): {
  readonly ask: Reach['ask'];
  readonly askTo: Reach['askTo'];
  turnEnded(agentId: AgentId): Promise<void>;
} {
  const deferred = new Map<string, Deferred>();

  async function wakeUp(
    { target, source, reason, due }: Pick<WakeAsked, 'target' | 'source' | 'reason' | 'due'>,
    decisionId: string,
    state: AgentState,
    why: () => Promise<string>,
  ): Promise<void> {
    const sessionId = host.sessionId();
    try {
      if (state === 'absent' && source.kind !== 'person')
        return await alone.wake(target, { name: nameOf(source), reason, why: await why(), due });
      if (sessionId !== null && pauses.isPaused(target)) await pauses.set(sessionId, target, false, nameOf(source));
      // Somebody whom the person wakes from afar, or in the middle of a turn, needs no turn of its own.
      if (state === 'paused' || state === 'idle') await host.rouse(target, await why());
    } finally {
      await gate.ended(decisionId);
    }
  }

  /** `wanted`: the way in which a deferred wake was asked for first. */
  async function ask(
    { due, ...request }: WakeAsked,
    wanted?: WakeWay,
    carry?: () => Promise<void>,
  ): ReturnType<Reach['ask']> {
    const { target, source, way, reason, messageId } = request;
    // A relay that died after it was granted, and before that was written where it was due, asks for it once more.
    const before = due && messageId !== null ? await gate.granted({ target, messageId }) : null;
    if (before) return { decision: before, left: null };
    const state = host.stateOf(target);
    // Asked only where it decides: the person's own wakes wait for nothing.
    const canAlone =
      carry !== undefined || (state === 'absent' && source.kind !== 'person' && (await alone.can(target)));
    const answer = await gate.ask({ ...request, state, alone: canAlone });
    const { outcome, decisionId } = answer.decision;
    if (outcome === 'granted' && carry) {
      void carry()
        // oxlint-disable-next-line typescript/no-misused-promises -- finally waits for what it is given.
        .finally(() => gate.ended(decisionId))
        .catch((error: unknown) =>
          logger.error('what a granted wake was for failed', { target, decisionId, error: String(error) }),
        );
      return answer;
    }
    if (outcome === 'deferred' && state === 'busy') {
      deferred.set(target, { source, way: wanted ?? way, reason, messageId, due });
      // Its turn may have ended while the gate decided, and no other end may come.
      if (host.stateOf(target) === 'idle') void turnEnded(target);
    }
    if (outcome === 'granted') {
      deferred.delete(target);
      void wakeUp({ target, source, reason, due }, decisionId, state, async () =>
        wokenBy(source, way === 'deferred' ? (wanted ?? way) : way, reason, await directory.all()),
      ).catch((error: unknown) =>
        logger.error('a granted wake could not be carried out; the message waits', {
          target,
          decisionId,
          error: String(error),
        }),
      );
    }
    return answer;
  }

  async function turnEnded(agentId: AgentId): Promise<void> {
    const wanted = deferred.get(agentId);
    if (!wanted || !deferred.delete(agentId)) return;
    try {
      // It may have read what it was wanted for in the turn that ended.
      if ((await inbox.count(agentId)) > 0)
        await ask({ ...wanted, target: agentId, way: 'deferred', callerSession: null }, wanted.way);
    } catch (error) {
      logger.error('a deferred wake could not be asked for again; the message waits', {
        agentId,
        error: String(error),
      });
    }
  }

  return {
    ask: (request) => ask(request),
    askTo: (request, carry) => ask(request, undefined, carry),
    turnEnded,
  };
}
