/** HTTP routes of routines on projects. */
import { mappingEndpoints } from '../../src/shared/protocol/endpoints/routine-mappings.ts';
import type { Directory } from '../team/directory/index.ts';
import { answer, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import { changedElsewhere } from '../http/version.ts';
import { agentIdIn } from '../team/directory/index.ts';
import type { MappingOutcome, Mappings } from './mapping-contract.ts';

function orThrow<Value>(outcome: MappingOutcome<Value>): Value {
  if (outcome.ok) return outcome.value;
  const { reason, detail, field } = outcome;
  switch (reason) {
    case 'no-project':
    case 'not-assigned':
    case 'no-mapping':
    case 'unknown-schedule':
      throw problem(404, reason, detail);
    case 'mapped-already':
      throw problem(409, reason, detail);
    case 'too-many':
      throw problem(429, reason, detail);
    case 'misfit':
      throw problem(400, reason, detail, { fields: { errors: field === null ? [] : [{ field, message: detail }] } });
  }
}

interface MappingRoutesDeps {
  readonly mappings: Mappings;
  readonly directory: Pick<Directory, 'all'>;
}

export function createMappingRoutes({ mappings, directory }: MappingRoutesDeps): readonly Handled[] {
  const at = async ({ projectId, agentId }: { readonly projectId: string; readonly agentId: string }) =>
    [projectId, await agentIdIn(directory, agentId)] as const;
  return answer(mappingEndpoints, {
    mappings: async (named) => ({ mappings: [...orThrow(await mappings.list(...(await at(named))))] }),
    createMapping: async ({ body, ...named }) => orThrow(await mappings.add(await at(named), body)),
    resolveMappings: async (named) => ({ resolved: orThrow(await mappings.resolve(...(await at(named)))) }),
    async changeMapping({ mappingId, body, ...named }) {
      const outcome = await mappings.change(await at(named), mappingId, body);
      if (!outcome.ok && outcome.reason === 'changed-elsewhere') throw changedElsewhere(outcome.current);
      return orThrow(outcome);
    },
    removeMapping: async ({ mappingId, ...named }) => orThrow(await mappings.remove(await at(named), mappingId)),
  });
}
