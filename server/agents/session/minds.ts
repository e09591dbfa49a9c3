/**
 * The mind and the models of a session. They are the connected ones at any time, so that a new
 * connection needs no new session.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { MindInfo } from '../../../src/shared/protocol/events.ts';
import type { StartSession } from '../../../src/shared/protocol/http.ts';
import { isRehearsal, type Mind } from '../minds/index.ts';

interface Minds {
  /** The mind for new answers. An answer that has begun keeps its mind. */
  current(): Mind;
  info(): MindInfo;
  modelOf(agentId: AgentId): string;
  choose(models: ModelChoice): void;
}

type ModelChoice = Pick<NonNullable<StartSession['settings']>, 'leadModel' | 'agentModel' | 'agentModels'>;

export function createMinds(source: Mind, settings: StartSession['settings']): Minds {
  const newest = () => source.current?.() ?? source;
  let chosen: ModelChoice = settings ?? {};
  let mind = newest();

  /**
   * The demo mind never replaces a model that was removed. The model's refusal tells the person
   * what happened.
   */
  function current(): Mind {
    const next = newest();
    if (!isRehearsal(next) || isRehearsal(mind)) mind = next;
    return mind;
  }
  const info = () => current().models({ lead: chosen.leadModel ?? '', agent: chosen.agentModel ?? '' });
  return {
    current,
    info,
    modelOf: (agentId) =>
      current().models({ lead: '', agent: chosen.agentModels?.[agentId] ?? info().agentModel }).agentModel,
    choose: (models) => (chosen = models),
  };
}
