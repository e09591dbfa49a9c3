/**
 * The person's endpoints for ACP agents. API clients may not call them: a credential is not the
 * person.
 */
import type { Context } from 'hono';
import { programEndpoints } from '../../../src/shared/protocol/endpoints/external.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import type { AgentPrograms } from './index.ts';

const unknown = () => problem(404, 'not-found', 'There is no such program.');

export function createProgramRoutes({ programs }: { readonly programs: AgentPrograms }): readonly Handled[] {
  const byPerson = (context: Context<Env>) => {
    if (context.get('browser') === undefined)
      throw problem(403, 'browsers-only', 'ACP agents are chosen on the household’s page.');
  };
  return answer(programEndpoints, {
    programs(_input, context) {
      byPerson(context);
      return programs.shown();
    },
    async addProgram({ body }, context) {
      byPerson(context);
      const added = await programs.add(body);
      if ('refused' in added)
        throw problem(added.refused === 'programs' ? 403 : 409, `program-${added.refused}`, added.reason);
      return added;
    },
    async tryProgram({ programId }, context) {
      byPerson(context);
      const tried = await programs.try(programId);
      if (tried === null) throw unknown();
      return tried;
    },
    async removeProgram({ programId }, context) {
      byPerson(context);
      if (!(await programs.remove(programId))) throw unknown();
      return null;
    },
  });
}
