/** Who lives here, in a few words: what a household that was lost is known by. */
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { settingsOf } from '../../../shared/domain/settings.ts';
import type { ViewsDatabase } from './database.ts';

export interface TeamCount {
  /** What the agents call the person; null: not said yet. */
  readonly human: string | null;
  /** null: nobody has begun here. */
  readonly lead: string | null;
  readonly agents: number;
  readonly documents: number;
}

export async function readTeam(db: ViewsDatabase, documents: number): Promise<TeamCount> {
  const tx = db.transaction(['identities', 'settings']);
  const [identities, settings] = await Promise.all([
    tx.objectStore('identities').getAll(),
    tx.objectStore('settings').index('slot').getAll(),
  ]);
  const { humanName, leadName } = settingsOf(settings.map(({ doc }) => ({ ...doc, id: doc._id })));
  const ids = new Set(identities.map(({ doc }) => doc.agentId));
  const led = ids.delete(LEAD_ID);
  return { human: humanName === '' ? null : humanName, lead: led ? leadName : null, agents: ids.size, documents };
}
