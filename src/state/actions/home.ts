/** Beginning, settings, and who sits where. Nothing is shown as saved before the ledger has it. */
import { LEAD_ID } from '../../domain/seat.ts';
import type { ChangeKind } from '../../domain/agent.ts';
import type { SettingKey, Settings } from '../../domain/settings.ts';
import type { Doc } from '../../protocol/documents.ts';
import { attempt, type Done, type Parts } from './parts.ts';

export interface HomeActions {
  /** The first visit: writes the lead's identity and both names. `beside`: also where others live at the relay. */
  begin(names: { readonly human: string; readonly lead: string; readonly beside: boolean }): Promise<Done>;
  saveSetting<K extends SettingKey>(key: K, value: Settings[K]): Promise<Done>;
  /** Writes changes of an agent, together: a name, a seat, retiring, returning. */
  changeAgent(agentId: string, changes: readonly ChangeKind[]): Promise<Done>;
  /** Tries the line to the relay again, now. */
  reconnect(): Promise<void>;
  /** Reads the household again after it could not be read. */
  reload(): Promise<void>;
  refreshHealth(): Promise<void>;
  /** Asks the relay whether others live there. */
  refreshHome(): Promise<void>;
}

export function createHomeActions({ owner, relay, writer, clock, household, notices, info }: Parts): HomeActions {
  async function write(docs: readonly Doc[]): Promise<Done> {
    const written = await attempt(owner.call('append', docs));
    if (written.ok) household.take(docs);
    return written;
  }

  async function refreshHome(): Promise<void> {
    const home = await relay.home();
    info.setState({ home: home.ok ? home.value : 'unreachable' });
  }

  return {
    async begin({ human, lead, beside }) {
      const begun = await relay.beginHome(beside);
      // Without its relay a household begins all the same; where others live there, nobody begins beside them unasked.
      if (begun.ok) info.setState({ home: begun.value });
      else if (begun.problem.kind === 'refused' && begun.problem.problem.status === 409) {
        await refreshHome();
        return { ok: false, reason: begun.problem.message };
      }
      return await write([writer.setting('humanName', human), writer.setting('leadName', lead), writer.leadIdentity(lead)]);
    },
    saveSetting(key, value) {
      const docs: Doc[] = [writer.setting(key, value)];
      // The lead's name shows through its identity, as everybody's does.
      if (key === 'leadName' && typeof value === 'string') docs.push(writer.change(LEAD_ID, { kind: 'rename', name: value }));
      return write(docs);
    },
    changeAgent: (agentId, changes) => write(changes.map((change) => writer.change(agentId, change))),
    async reconnect() {
      const tried = await attempt(owner.call('reconnect'));
      if (!tried.ok) notices.error(tried.reason);
    },
    async reload() {
      const read = await attempt(
        owner.call('household').then((view) => {
          // What is written from now on is later than all there is, whatever this device's clock says.
          clock.follow(view.newest);
          household.load(view);
        }),
      );
      if (!read.ok) household.fail(read.reason);
    },
    refreshHome,
    async refreshHealth() {
      const health = await relay.health();
      if (health.ok) info.setState({ health: health.value });
    },
  };
}
