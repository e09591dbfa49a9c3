/** The prompts of one session, from the protocol's templates and what the page said when it began. */
import { parseTemplate, PLACEHOLDERS, renderTemplate, type Protocol } from '../../src/domain/prompts.ts';
import { seatNumber } from '../../src/domain/seat.ts';
import type { AgentPayload, SeatPayload } from '../../src/domain/wake-payload.ts';
import type { StartSession } from '../../src/protocol/http.ts';

export interface Prompts {
  leadSystem(): string;
  agentSystem(agent: { readonly name: string | null; readonly colorName: string; readonly position: number }): string;
  wake(agent: AgentPayload): string;
  birth(seat: SeatPayload): string;
  nudge(): string;
  /** Why the person's own wake template is not used; null where it is, or where there is none. */
  readonly templateProblem: string | null;
}

export function createPrompts({ templates, document }: Protocol, start: StartSession): Prompts {
  const human = start.human.name;
  const lead = start.lead.name;
  const own = start.settings?.wakeTemplate ?? '';
  const parsed = own === '' ? null : parseTemplate(own, PLACEHOLDERS.wake);
  const wakeTemplate = parsed?.ok ? own : templates.wake;
  return {
    templateProblem: parsed && !parsed.ok ? parsed.reason : null,
    leadSystem: () =>
      `${renderTemplate(templates.lead, 'lead', { name: lead, human, soul: start.lead.soul, transcript: start.lead.transcript })}\n\n${document}`,
    agentSystem: (agent) =>
      renderTemplate(templates.agent, 'agent', { name: agent.name, human, lead, colorName: agent.colorName, seat: String(seatNumber(agent.position)) }),
    wake: (agent) =>
      renderTemplate(wakeTemplate, 'wake', {
        name: agent.name,
        soul: agent.soul,
        transcript: agent.transcript,
        human,
        lead,
        color: agent.color,
        colorName: agent.colorName,
        seat: String(seatNumber(agent.position)),
      }),
    birth: (seat) => renderTemplate(templates.birth, 'birth', { human, lead, color: seat.color, colorName: seat.colorName, seat: String(seatNumber(seat.position)) }),
    nudge: () => renderTemplate(templates.nudge, 'nudge', { human, lead }),
  };
}
