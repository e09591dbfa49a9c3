/** The tools of the protocol: their definitions for minds, and how their input is read. */
import { z } from 'zod';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { seatNumber } from '../../../src/shared/domain/seat.ts';
import type { AsleepReason, CallKind, RoostEvent } from '../../../src/shared/protocol/events.ts';
import { type ReportLine, reportText } from '../../../src/shared/domain/team-report.ts';
import { checkName } from '../../../src/shared/domain/names.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { ToolOutcome } from '../../tools/index.ts';
import { toolError } from '../../tools/define-tool.ts';
import type { MindTool } from '../minds/index.ts';
import type { OwnTools } from '../runs/toolbox.ts';
import type { SessionContext } from './context.ts';
import type { Present } from './presence.ts';

// One wake or one summon, from the message to the decision on the last seat. Every seat ends in
// exactly one way: the agent is here, or it is not, with a reason. `call-ended` is written together
// with the last decision.

type SeatOutcome = { readonly here: true } | { readonly here: false; readonly reason: AsleepReason };

export interface RunningCall {
  readonly callId: string;
  readonly kind: CallKind;
  /** Takes the agents of the call. Called once, before anything else. */
  seat(agents: readonly Present[]): void;
  /** This agent's request has been sent, or is queued for the model. */
  asked(agentId: AgentId): void;
  /**
   * Resolves when all agents are asked or decided and their requests had time to leave, or after a
   * timeout.
   */
  whenAsked(): Promise<void>;
  /** A seat is decided. Returns the events to write with its own event. */
  decided(agentId: AgentId, outcome: SeatOutcome): readonly RoostEvent[];
  /** Whether every seat is decided. */
  over(): boolean;
  whenOver(): Promise<void>;
  /** The `[TEAM REPORT]` of all seats. */
  report(): string;
  /** A report of the seats that no report has shown as decided; null: there are none. */
  lateReport(): string | null;
}

/**
 * The reason, if every seat failed for the same one: then the person gets one notice. Null
 * otherwise.
 */
function sharedReason(outcomes: readonly SeatOutcome[]): string | null {
  const reasons = new Set(
    outcomes.map((outcome) =>
      outcome.here || !['failed', 'silent'].includes(outcome.reason.code) ? null : outcome.reason.message,
    ),
  );
  const [reason = null] = reasons;
  return outcomes.length > 1 && reasons.size === 1 ? reason : null;
}

export function createRunningCall({
  context,
  callId,
  kind,
}: {
  context: SessionContext;
  callId: string;
  kind: CallKind;
}): RunningCall {
  const { sessionId, now, timers, limits } = context;
  const outcomes = new Map<string, SeatOutcome>();
  const reported = new Set<string>();
  let agents: readonly Present[] = [];
  const ended = createDeferred();
  const over = () => outcomes.size === agents.length;
  const away = new Set<string>();
  const allAsked = createDeferred();
  function asked(agentId: AgentId): void {
    if (away.has(agentId)) return;
    if (away.size === 0) timers.after(limits.askedWithinMs, allAsked.resolve);
    away.add(agentId);
    if (away.size === agents.length) timers.after(limits.askedLeaveMs, allAsked.resolve);
  }

  function reportOf(some: readonly Present[]): string {
    const lines = some.map((agent): ReportLine => {
      const outcome = outcomes.get(agent.agentId) ?? null;
      return {
        seat: seatNumber(agent.position),
        name: agent.name(),
        outcome: outcome?.here === false ? { here: false, why: outcome.reason.message } : outcome,
      };
    });
    for (const agent of some) if (outcomes.has(agent.agentId)) reported.add(agent.agentId);
    return reportText(lines);
  }

  return {
    callId,
    kind,
    seat(all) {
      agents = all;
    },
    asked,
    whenAsked: () => allAsked.promise,
    decided(agentId, outcome) {
      asked(agentId);
      if (outcomes.has(agentId)) return [];
      outcomes.set(agentId, outcome);
      if (!over()) return [];
      ended.resolve();
      return [{ kind: 'call-ended', time: now(), sessionId, callId, error: sharedReason([...outcomes.values()]) }];
    },
    over,
    whenOver: () => ended.promise,
    report: () => reportOf(agents),
    lateReport() {
      const late = agents.filter((agent) => !reported.has(agent.agentId));
      return late.length === 0 ? null : reportOf(late);
    },
  };
}

const SPAWN_TEAM: MindTool = {
  name: 'spawn_team',
  description:
    'Joins the human’s call: the agents are waking already. Returns a [TEAM REPORT] when each has answered or failed.',
  properties: {
    seats: {
      type: 'array',
      items: { type: 'integer' },
      description: 'Seat numbers from 1 to 9 (position + 1). 5 is your own.',
    },
  },
  required: ['seats'],
};
export const CHOOSE_NAME: MindTool = {
  name: 'choose_name',
  description: 'Takes a name as your own, from now on. At birth, you are born with it.',
  properties: { name: { type: 'string', description: `The name, at most ${LIMITS.name} characters` } },
  required: ['name'],
};
export const WRITE_SOUL: MindTool = {
  name: 'write_soul',
  description:
    'Stores this text as your soul: who you are, in your own words. You get it whenever you wake. Earlier versions stay stored.',
  properties: { text: { type: 'string' } },
  required: ['text'],
};

export const LEAD_TOOLS: readonly MindTool[] = [SPAWN_TEAM, WRITE_SOUL];
export const AGENT_TOOLS: readonly MindTool[] = [CHOOSE_NAME, WRITE_SOUL];

/** The name as requested. `checkName` decides whether it is available. */
export const nameSchema = z.string();
export const soulSchema = z
  .string()
  .max(LIMITS.soul, 'that is too long')
  .refine((text) => text.trim() !== '', 'a soul is not empty');

const callSchema = z.discriminatedUnion('tool', [
  // The names in the input change nothing. The person has called the agents, and they are on their
  // way.
  z.object({ tool: z.literal('spawn_team'), input: z.unknown() }),
  z.object({ tool: z.literal('choose_name'), input: z.object({ name: nameSchema }) }),
  z.object({
    tool: z.literal('write_soul'),
    input: z.object({ text: soulSchema }),
  }),
]);
/** A valid call. Its name is in the stored form. */
export type ToolCall = z.infer<typeof callSchema>;

/**
 * Reads a call of one of these tools. The reason of a failure is a sentence for the mind, which may
 * try again. `human`: the person's name.
 */
function readToolCall(
  name: string,
  input: unknown,
  human: string,
): { ok: true; call: ToolCall } | { ok: false; reason: string } {
  const parsed = callSchema.safeParse({ tool: name, input });
  if (parsed.success && parsed.data.tool === 'choose_name') {
    const checked = checkName(parsed.data.input.name, 'agent', human);
    return checked.ok ? { ok: true, call: { tool: 'choose_name', input: { name: checked.name } } } : checked;
  }
  if (parsed.success) return { ok: true, call: parsed.data };
  const problems = parsed.error.issues.map((issue) => `${issue.path.slice(1).join('.') || 'input'}: ${issue.message}`);
  return { ok: false, reason: `${name} could not be read. ${problems.join('; ')}.` };
}

/** These tools for a speaker. `run` gets the valid calls. */
export const ownTools = (
  definitions: readonly MindTool[],
  human: string,
  run: (call: ToolCall, answer: string, signal: AbortSignal) => Promise<ToolOutcome> | ToolOutcome,
): OwnTools => ({
  definitions,
  run(name, input, signal, answer) {
    const read = readToolCall(name, input, human);
    return read.ok ? run(read.call, answer, signal) : toolError(read.reason);
  },
});
