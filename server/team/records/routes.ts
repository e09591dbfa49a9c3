/** HTTP routes with which a page restores records. */
import type { Context } from 'hono';
import { recordEndpoints } from '../../../src/shared/protocol/endpoints/team.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import type { Records } from './index.ts';

/** Only the person restores records. API clients have no access. */
function refusePrograms(context: Context<Env>): void {
  if (context.get('browser') === undefined)
    throw problem(403, 'browsers-only', 'Records are given back from the household’s page.');
}

export function createRecordRoutes({
  records,
}: {
  readonly records: Pick<Records, 'compare' | 'offer' | 'asked' | 'answer'>;
}): readonly Handled[] {
  return answer(recordEndpoints, {
    async compareRecords({ body }, context) {
      refusePrograms(context);
      return { standings: await records.compare(body.records) };
    },
    async offerRecords({ body }, context) {
      refusePrograms(context);
      return { answers: await records.offer(body.records) };
    },
    async askedRecords(_, context) {
      refusePrograms(context);
      return { asked: await records.asked() };
    },
    async answerAsked({ body }, context) {
      refusePrograms(context);
      return { outcomes: await records.answer(body.answers) };
    },
  });
}
