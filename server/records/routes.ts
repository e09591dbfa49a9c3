/** The calls by which a page gives records back. */
import type { Context } from 'hono';
import { compareRecordsSchema, offerRecordsSchema } from '../../src/protocol/records.ts';
import { readBody } from '../body.ts';
import { problem } from '../problem.ts';
import type { Env, Routes } from '../route.ts';
import type { Records } from './index.ts';

/** They are the person's to give back, and no program's. */
function refusePrograms(context: Context<Env>): void {
  if (context.get('browser') === undefined)
    throw problem(403, 'browsers-only', 'Records are given back from the household’s page.');
}

export function createRecordRoutes({ records }: { readonly records: Pick<Records, 'compare' | 'offer'> }): Routes {
  return (route) => {
    route('/api/records/compare', {
      async POST(context) {
        refusePrograms(context);
        const { records: asked } = await readBody(context, compareRecordsSchema);
        return context.json({ standings: await records.compare(asked) });
      },
    });
    route('/api/records', {
      async POST(context) {
        refusePrograms(context);
        const { records: offered } = await readBody(context, offerRecordsSchema);
        return context.json({ answers: await records.offer(offered) });
      },
    });
  };
}
