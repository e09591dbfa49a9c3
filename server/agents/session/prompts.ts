/**
 * The prompts of one session, from the protocol's templates and what the page said when it began.
 */
import type { EndReason } from '../../../src/shared/protocol/documents.ts';
import type { AsleepReason } from '../../../src/shared/protocol/events.ts';
import type { RunOutcome } from '../../../src/shared/protocol/runs.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { momentText, spanText } from '../../../src/shared/domain/zone-days.ts';
import { shownName } from '../../../src/shared/domain/names.ts';
import {
  inLanguage,
  parseTemplate,
  PLACEHOLDERS,
  type Protocol,
  renderTemplate,
} from '../../../src/shared/domain/prompts.ts';
import { toolWords } from '../../../src/shared/domain/toolsets.ts';
import { LEAD_ID, seatNumber } from '../../../src/shared/domain/seat.ts';
import { teammatesText } from '../../../src/shared/domain/teammates.ts';
import type { AgentPayload, SeatPayload } from '../../../src/shared/domain/wake-payload.ts';
import type { StartSession } from '../../../src/shared/protocol/http.ts';
import type { MindError, MindErrorKind, RequestState } from '../minds/index.ts';
import type { AnswerEnd } from '../runs/speaker.ts';
import type { Around, Prompt } from '../runs/context.ts';

// Why somebody sleeps again, or was not born, in sentences for people.

const seconds = (ms: number) => (ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`);

/** It ended its answer by itself, in words or in silence. */
export const endedItself = ({ status, unfinished }: AnswerEnd): boolean =>
  status === 'complete' || unfinished === 'silent' || unfinished === 'after-failure';

/** Null where the answer ended by itself. */
export function failedReason(end: AnswerEnd): AsleepReason | null {
  if (endedItself(end) || end.error === null) return null;
  return { code: 'failed', message: end.error };
}

/** `afterMs`: the time it was given; without it, it answered and said nothing. */
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

/** How a seat's run ended, by why it is empty, or its agent asleep. */
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

/** The same of whoever is in a session until its end. */
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

/**
 * Failures that may pass by themselves; a key, an account, a model's name or a request does not
 * mend itself.
 */
const PASSING: ReadonlySet<MindErrorKind> = new Set([
  'overloaded',
  'rate-limited',
  'unreachable',
  'stream-cut',
  'upstream-broken',
]);
const mayPass = (failure: MindError | null): boolean =>
  failure !== null && failure.lasting !== true && PASSING.has(failure.kind);

// Asking an agent that is on its way for its first words. Each try is a conversation of its own,
// and has its time, which runs while it is its turn at the model's server; there is one more where
// what went wrong may pass by itself.

interface FirstWords {
  /** Asks for the first time. */
  ask(): void;
  /** Where its request is. */
  onState(state: RequestState): void;
  /** It has said something: the time of this try does not run any more. */
  heard(): void;
  /** Nothing is being asked: no time runs until the next request. */
  pause(): void;
  /** This try is over without what was wanted. Whether there will be another. */
  tryAgain(failure: MindError | null): boolean;
  /** Whether this try ended because nothing was said in its time. */
  isSilent(): boolean;
  /** It waits for its second try. */
  isBetweenTries(): boolean;
  /** Nothing more is asked, and no time runs. */
  stop(): void;
}

interface FirstWordsDeps {
  readonly timers: Timers;
  /** ms that a try may be silent. */
  readonly timeoutMs: number;
  /** ms before the second try. */
  readonly secondTryMs: number;
  /** Begins a try. */
  readonly ask: () => void;
  /** Nothing was said in its time: ends the try. */
  readonly onSilence: () => void;
}

const MOST_TRIES = 2;

export function createFirstWords({ timers, timeoutMs, secondTryMs, ask, onSilence }: FirstWordsDeps): FirstWords {
  let tries = 0;
  let silent = false;
  let hasSpoken = false;
  let stopped = false;
  let between = false;
  let cancelTimer: () => void = () => undefined;

  function begin(): void {
    if (stopped) return;
    tries += 1;
    silent = false;
    hasSpoken = false;
    between = false;
    ask();
  }

  return {
    ask: begin,
    onState({ kind }) {
      if (hasSpoken || stopped) return;
      cancelTimer();
      if (kind !== 'sent') return;
      cancelTimer = timers.after(timeoutMs, () => {
        silent = true;
        onSilence();
      });
    },
    heard() {
      hasSpoken = true;
      cancelTimer();
    },
    pause: () => cancelTimer(),
    tryAgain(failure) {
      cancelTimer();
      if (stopped || tries >= MOST_TRIES || !(silent || mayPass(failure))) return false;
      between = true;
      cancelTimer = timers.after(secondTryMs, begin);
      return true;
    },
    isSilent: () => silent,
    isBetweenTries: () => between,
    stop() {
      stopped = true;
      between = false;
      cancelTimer();
    },
  };
}

export interface Prompts {
  /** What the person is called. */
  readonly human: string;
  /**
   * `around`: as the session begins. It stands in every request, so it says nothing that changes.
   * `tools`: names of those offered.
   */
  leadSystem(around: Around, tools: ReadonlySet<string>): string;
  agentSystem(
    agent: { readonly name: string | null; readonly colorName: string; readonly position: number },
    tools: ReadonlySet<string>,
  ): string;
  wake(agent: AgentPayload, around: Around): Prompt;
  birth(agentId: AgentId, seat: SeatPayload, around: Around): Prompt;
  nudge(): string;
  /** To an egg whose model uses no tools. */
  nameInWords(): string;
  /** Whether the lead had one as the session began. */
  readonly leadHasSoul: boolean;
  /** To a lead that has no soul yet. */
  soul(): string;
  /** Why the person's own wake template is not used; null where it is, or where there is none. */
  readonly templateProblem: string | null;
}

/** The time of it, and how long somebody slept until then. */
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

  // As the session began, and so until its end: it stands in every request.
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

  return {
    human,
    templateProblem: parsed && !parsed.ok ? parsed.reason : null,
    leadHasSoul: start.lead.soul !== null,
    leadSystem(around, tools) {
      const { soul, transcript, asleepSince, sleptFrom = asleepSince } = start.lead;
      return inTheirs(
        `${renderTemplate(templates.lead, 'lead', { name: lead, human, soul, transcript, team: teammatesText(around.team, LEAD_ID), ...times(around, sleptFrom), ...toolWords(tools) })}\n\n${document}`,
      );
    },
    agentSystem: (agent, tools) =>
      inTheirs(
        renderTemplate(templates.agent, 'agent', {
          name: agent.name,
          human,
          lead,
          colorName: agent.colorName,
          seat: seatOf(agent),
          ...toolWords(tools),
        }),
      ),
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
