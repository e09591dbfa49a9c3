/** ACP agents in the store. They are sealed, because their variables may be keys. */
import { z } from 'zod';
import { addProgramSchema } from '../../../src/shared/protocol/programs.ts';
import type { Sealer } from '../../platform/sealer.ts';
import type { Db } from '../../store/index.ts';

const keptSchema = z.object({ ...addProgramSchema.shape, programId: z.string() });
export type KeptProgram = z.infer<typeof keptSchema>;

export interface ProgramRowsDeps {
  readonly db: Db;
  /** The id of the home. */
  readonly home: string;
  readonly sealer: Sealer;
  readonly now: () => number;
}

export function createProgramRows({ db, home, sealer, now }: ProgramRowsDeps) {
  const about = (programId: string) => JSON.stringify(['ACP agent', home, programId]);
  return {
    /** Oldest first. Rows that this relay's key does not open are left out. */
    async all(): Promise<KeptProgram[]> {
      const rows = await db
        .selectFrom('agent_programs')
        .selectAll()
        .where('home', '=', home)
        .orderBy('made_at')
        .orderBy('program')
        .execute();
      return rows.flatMap(({ program, sealed }) => {
        const text = sealer.open(sealed, about(program));
        return text === null ? [] : [keptSchema.parse(JSON.parse(text))];
      });
    },
    async add(kept: KeptProgram): Promise<void> {
      const sealed = sealer.seal(JSON.stringify(kept), about(kept.programId));
      await db.insertInto('agent_programs').values({ home, program: kept.programId, sealed, made_at: now() }).execute();
    },
    async remove(programId: string): Promise<void> {
      await db.deleteFrom('agent_programs').where('home', '=', home).where('program', '=', programId).execute();
    },
  };
}
