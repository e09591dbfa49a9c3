import type { Roster } from '../../shared/domain/agent.ts';
import type { Settings } from '../../shared/domain/settings.ts';
import type { ChosenModels } from '../../shared/protocol/http.ts';

/** The models that the person has chosen, as a session takes them. Empty: the relay's default. */
export function chosenModelsOf({ seats }: Roster, { leadModel, agentModel }: Settings): ChosenModels {
  const own = [...seats.values()].filter(({ model }) => model !== '');
  const agentModels = Object.fromEntries(own.map(({ agentId, model }) => [agentId, model]));
  return { leadModel, agentModel, ...(own.length === 0 ? {} : { agentModels }) };
}
