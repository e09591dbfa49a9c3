/**
 * The prompts of one session, from the protocol's templates and what the page said when it began.
 */
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { momentText, spanText } from '../../../src/shared/domain/zone-days.ts';
import { shownName } from '../../../src/shared/domain/names.ts';
import {
  inLanguage,
  parseTemplate,
  PLACEHOLDERS,
  renderTemplate,
  type Protocol,
} from '../../../src/shared/domain/prompts.ts';
import { toolWords } from '../../../src/shared/domain/prompt-tools.ts';
import { LEAD_ID, seatNumber } from '../../../src/shared/domain/seat.ts';
import { teammatesText } from '../../../src/shared/domain/teammates.ts';
import type { AgentPayload, SeatPayload } from '../../../src/shared/domain/wake-payload.ts';
import type { StartSession } from '../../../src/shared/protocol/http.ts';
import type { Around, Prompt } from '../runs/around.ts';

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
