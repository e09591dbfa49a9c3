/**
 * Which mind answers in a session, and with which models: what is connected now, so that nothing
 * has to be ended for it.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { MindInfo } from '../../../src/shared/protocol/events.ts';
import type { StartSession } from '../../../src/shared/protocol/http.ts';
import { isRehearsal, type Mind } from '../minds/index.ts';

export interface Minds {
  /** What answers from now on. An answer that has begun keeps the mind that it began with. */
  current(): Mind;
  info(): MindInfo;
  modelOf(agentId: AgentId): string;
}

export function createMinds(source: Mind, settings: StartSession['settings']): Minds {
  const newest = () => source.current?.() ?? source;
  const own = new Map(Object.entries(settings?.agentModels ?? {}));
  let mind = newest();

  /**
   * The demo never takes over from a model that was removed: the model's own refusal says what
   * happened.
   */
  function current(): Mind {
    const next = newest();
    if (!isRehearsal(next) || isRehearsal(mind)) mind = next;
    return mind;
  }
  const info = () => current().models({ lead: settings?.leadModel ?? '', agent: settings?.agentModel ?? '' });
  return {
    current,
    info,
    modelOf: (agentId) => current().models({ lead: '', agent: own.get(agentId) ?? info().agentModel }).agentModel,
  };
}
