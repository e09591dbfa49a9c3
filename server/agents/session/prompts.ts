/**
 * The prompts of one session. They come from the protocol's templates and from the page's request
 * at the start.
 */
import type { EndReason } from '../../../src/shared/protocol/documents.ts';
import type { AsleepReason } from '../../../src/shared/protocol/events.ts';
import type { RunOutcome } from '../../../src/shared/protocol/runs.ts';
import { isDemoSoul } from '../../../src/shared/domain/demo-words.ts';
import { sentence, shownName } from '../../../src/shared/domain/names.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { momentText, spanText } from '../../../src/shared/domain/zone-days.ts';
import {
  identityText,
  inLanguage,
  insertsSoul,
  parseTemplate,
  PLACEHOLDERS,
  type Protocol,
  renderTemplate,
  teammatesText,
} from '../../../src/shared/domain/prompts.ts';
import { toolWords } from '../../../src/shared/domain/toolsets.ts';
import { LEAD_ID, seatNumber } from '../../../src/shared/domain/seat.ts';
import type { AgentPayload, SeatPayload } from '../../../src/shared/domain/wake-payload.ts';
import type { StartSession } from '../../../src/shared/protocol/http.ts';
import type { AnswerEnd } from '../runs/delivery.ts';
import type { Around, Prompt } from '../runs/context.ts';

// Reasons why an agent is asleep again, or an egg was not born, as sentences for people.

const seconds = (ms: number) => (ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`);

/** Whether the agent ended its answer itself, with words or in silence. */
export const endedItself = ({ status, unfinished }: AnswerEnd): boolean =>
  status === 'complete' || unfinished === 'silent' || unfinished === 'after-failure';

/** Null: the answer ended normally. */
export function failedReason(end: AnswerEnd): AsleepReason | null {
  if (endedItself(end) || end.error === null) return null;
  return { code: 'failed', message: end.error };
}

/** `afterMs`: its time limit. Left out: the agent answered without words. */
export function silentReason(afterMs?: number): AsleepReason {
  return {
    code: 'silent',
    message:
      afterMs === undefined
        ? sentence`It answered, but said nothing.`
        : sentence`It said nothing for ${seconds(afterMs)}.`,
  };
}

export const unnamedReason = (afterMs: number): AsleepReason => ({
  code: 'unnamed',
  message: sentence`It found no name within ${seconds(afterMs)}. The seat is free again.`,
});
export const namelessReason: AsleepReason = {
  code: 'unnamed',
  message: sentence`Its model uses no tools, and did not say a name in words. The seat is free again. Choose another model, or try again.`,
};
export const putToSleep: AsleepReason = { code: 'put-to-sleep', message: sentence`You put it to sleep.` };
export const stoppedBefore: AsleepReason = {
  code: 'put-to-sleep',
  message: sentence`You stopped it before its first words.`,
};
export const cancelled: AsleepReason = {
  code: 'cancelled',
  message: sentence`You gave up this egg. The seat is free again.`,
};
export const leadSilent = (afterMs: number): string => sentence`The lead said nothing for ${seconds(afterMs)}.`;

/** The outcome of a seat's run, from the reason that the seat is empty or its agent asleep. */
export function outcomeOf({ code }: AsleepReason): RunOutcome {
  switch (code) {
    case 'failed':
      return 'failed';
    case 'silent':
    case 'unnamed':
      return 'timed-out';
    case 'put-to-sleep':
    case 'cancelled':
      return 'stopped';
    default:
      return code satisfies never;
  }
}

/** The outcome of runs that last until the end of the session. */
export function outcomeAtEnd(reason: EndReason): RunOutcome {
  switch (reason) {
    case 'ended':
    case 'idle':
      return 'done';
    case 'shutdown':
      return 'stopped';
    case 'crash':
      return 'crashed';
    default:
      return reason satisfies never;
  }
}

export interface Prompts {
  /** The person's name. */
  readonly human: string;
  /**
   * `around`: the state at the start of the session. The prompt is part of every request, so it
   * contains nothing that changes. `tools`: names of the offered tools. `memory`: what the lead
   * keeps.
   */
  leadSystem(
    around: Around,
    tools: ReadonlySet<string>,
    soul: string | null,
    memory: string | null,
    isDemo: boolean,
  ): string;
  /** `soul`: null for an agent whose conversation has it already. */
  agentSystem(
    agent: { readonly name: string | null; readonly colorName: string; readonly position: number },
    soul: string | null,
    tools: ReadonlySet<string>,
  ): string;
  /** The wake message itself has the soul, because the person’s template inserts it. */
  readonly wakeHasSoul: boolean;
  wake(agent: AgentPayload, around: Around): Prompt;
  birth(agentId: AgentId, seat: SeatPayload, around: Around): Prompt;
  nudge(): string;
  /** For an egg whose model uses no tools. */
  nameInWords(): string;
  /**
   * The lead's soul as the session began, or null. A soul that the demo wrote is for the demo only.
   */
  leadSoul(isDemo: boolean): string | null;
  /** For a lead without a soul. */
  soul(): string;
  /** Why the person's wake template is not used; null: it is used, or there is none. */
  readonly templateProblem: string | null;
}

/** The current time, and how long the agent has slept. */
const times = ({ now, timeZone }: Around, asleepSince: number | null | undefined) => ({
  now: momentText(now, timeZone),
  slept: asleepSince === null || asleepSince === undefined || asleepSince > now ? null : spanText(now - asleepSince),
});

export function createPrompts({ templates, document }: Protocol, start: StartSession): Prompts {
  const human = shownName(start.human.name, 'person');
  const lead = shownName(start.lead.name, 'lead');
  const own = start.settings?.wakeTemplate ?? '';
  const parsed = own === '' ? null : parseTemplate(own, PLACEHOLDERS.wake);
  const wakeTemplate = parsed?.ok ? own : templates.wake;

  // As the session began, until its end, because it is part of every request.
  const inTheirs = (system: string) => inLanguage(system, { templates }, human, start.human.language);
  const seatOf = ({ position }: { readonly position: number }) => String(seatNumber(position));
  const wakeText = (
    { name, soul, color, colorName, position, id, asleepSince, sleptFrom = asleepSince }: AgentPayload,
    transcript: string | null,
    around: Around,
  ) =>
    renderTemplate(wakeTemplate, 'wake', {
      name,
      soul,
      transcript,
      human,
      lead,
      team: teammatesText(around.team, id),
      color,
      colorName,
      seat: seatOf({ position }),
      ...times(around, sleptFrom),
    });

  const shownSoul = (soul: string | null, isDemo: boolean) =>
    soul !== null && !isDemo && isDemoSoul(soul) ? null : soul;

  return {
    human,
    templateProblem: parsed && !parsed.ok ? parsed.reason : null,
    leadSoul: (isDemo) => shownSoul(start.lead.soul, isDemo),
    wakeHasSoul: insertsSoul(wakeTemplate),
    leadSystem(around, tools, soul, memory, isDemo) {
      const { transcript, asleepSince, sleptFrom = asleepSince } = start.lead;
      return inTheirs(
        `${renderTemplate(templates.lead, 'lead', { name: lead, human, soul: shownSoul(soul, isDemo), transcript, team: teammatesText(around.team, LEAD_ID), ...times(around, sleptFrom), ...toolWords(tools) })}${memory === null ? '' : `\n\n${memory}`}\n\n${document}`,
      );
    },
    agentSystem(agent, soul, tools) {
      const system = renderTemplate(templates.agent, 'agent', {
        name: agent.name,
        human,
        lead,
        colorName: agent.colorName,
        seat: seatOf(agent),
        ...toolWords(tools),
      });
      const identity = agent.name === null ? null : identityText({ templates }, { name: agent.name, soul });
      return inTheirs(identity === null ? system : `${system}\n\n${identity}`);
    },
    wake(agent, around) {
      const text = wakeText(agent, agent.transcript, around);
      return {
        text,
        shortened: (most) =>
          text.length <= most || agent.transcript === null
            ? text
            : wakeText(agent, cutMiddle(agent.transcript, most - (text.length - agent.transcript.length)), around),
      };
    },
    birth(agentId, seat, around) {
      const text = renderTemplate(templates.birth, 'birth', {
        human,
        lead,
        team: teammatesText(around.team, agentId),
        color: seat.color,
        colorName: seat.colorName,
        seat: seatOf(seat),
        now: times(around, null).now,
      });
      return { text, shortened: () => text };
    },
    nameInWords: () =>
      `[From the relay, not from ${human}: \`choose_name\` is not there for you.] Which name is yours? Answer with the name alone, and nothing else.`,
    nudge: () => renderTemplate(templates.nudge, 'nudge', { human, lead }),
    soul: () => renderTemplate(templates.soul, 'soul', { name: lead, human }),
  };
}
