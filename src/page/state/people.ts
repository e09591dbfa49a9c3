/** Names of people and agents in this household. */
import { displayName, type Roster } from '../../shared/domain/agent.ts';
import { applicationNameOf } from '../../shared/domain/applications.ts';
import { shownName } from '../../shared/domain/names.ts';
import { LEAD_ID } from '../../shared/domain/seat.ts';
import type { Settings } from '../../shared/domain/settings.ts';
import { SOURCE, t } from '../language/t.ts';

export const humanNameOf = (settings: Settings): string => shownName(settings.humanName, 'person');
export const leadNameOf = (roster: Roster, settings: Settings): string =>
  roster.lead?.name ?? shownName(settings.leadName, 'lead');

/** The language that goes along with requests. English is the default and left out. */
export const speaking = (language: string): { readonly language?: string } => (language === SOURCE ? {} : { language });

export function authorName(author: string, roster: Roster, settings: Settings): string {
  if (author === 'human') return humanNameOf(settings);
  if (author === 'relay') return 'Roost';
  if (author === LEAD_ID) return leadNameOf(roster, settings);
  const application = applicationNameOf(author);
  if (application !== null) return t`${application} (application)`;
  const agent = roster.byId.get(author);
  return agent ? displayName(agent, roster) : 'somebody';
}
