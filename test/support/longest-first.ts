/**
 * The order of the files: what takes longest begins first, so that no core waits for one file at
 * the end.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Seconds, about, as a run prints them at its end; what is not named takes few. A wrong one costs a
 * little time and nothing else.
 */
export const SECONDS: Readonly<Record<string, number>> = {
  'browser/devices': 120,
  'relay/tools/calls/approvals': 120,
  'browser/engines': 113,
  'relay/tools/acp/programs': 110,
  'relay/tools/mcp-client/attached': 100,
  'browser/ledger-damage': 74,
  'browser/long-conversation': 72,
  'browser/bench': 60,
  'browser/copies': 60,
  'faults/memory-life': 60,
  'attacks/owner-rights': 55,
  'relay/households/homes': 55,
  'browser/ledger': 52,
  'attacks/yes': 50,
  'relay/startup/app-end': 47,
  'browser/scenes': 46,
  'faults/damage': 45,
  'browser/phone': 44,
  'browser/layout': 38,
  'relay/team/events/events-kills': 35,
  'relay/schedules/schedules-routes': 35,
  'relay/schedules/wake-script': 35,
  'relay/tools/workspaces/workspaces': 35,
  'attacks/floods': 34,
  'relay/team/records/records': 34,
  'relay/startup/config': 32,
  'browser/reach': 30,
  'faults/relay-kill': 30,
  'relay/schedules/schedules': 30,
  'relay/tools/mcp-client/server-questions': 30,
  'browser/connect': 29,
  'browser/schedule': 26,
  'relay/sync/sync-replication': 26,
  'attacks/voices': 25,
  'faults/ledger-kill': 25,
  'relay/agents/minds/rehearsal': 25,
  'browser/ledger-tabs': 23,
  'attacks/restored': 22,
  'relay/schedules/night-faults': 22,
  'relay/agents/runs/outgrown': 22,
  'browser/story': 20,
  'relay/store/store': 20,
  'relay/sync/sync-socket': 20,
  'browser/homes': 18,
  'browser/records': 18,
  'faults/line-cut': 18,
  'faults/one-wake': 18,
  'faults/tab-kill': 18,
  'relay/agents/runs/run': 18,
  'relay/agents/session/wake-line': 18,
  'attacks/connections-end': 16,
  'attacks/devices': 16,
  'browser/archive': 16,
  'browser/ledger-stream': 16,
  'browser/without-relay': 16,
  'relay/access/access': 16,
  'browser/page-key': 15,
  'attacks/connections': 14,
  'attacks/quotas-processes': 14,
  'browser/ahead': 14,
  'browser/files': 14,
  'faults/later-parts': 14,
  'faults/replication': 14,
  'relay/bench': 14,
  'relay/team/events/events-stream': 14,
  'relay/tools/mcp-server/mcp-sleep': 14,
  'relay/startup/start': 14,
  'relay/agents/session/wake-attacks': 13,
  'relay/agents/session/wake-lead': 13,
  'attacks/budgets-kill': 12,
  'relay/agents/session/summon': 12,
  'relay/schedules/clock-watch': 11,
  'relay/team/events/events-kill': 11,
  'relay/tools/mcp-server/mcp-conformance': 11,
  'attacks/budgets-stop': 10,
  'browser/remembering': 10,
  'browser/ticks': 10,
  'relay/http/app': 10,
  'relay/agents/reach/reach': 10,
  'relay/store/store-full': 10,
  'relay/agents/session/wake': 6,
};
const FEW = 5;

const secondsOf = ({ moduleId, project }: TestSpecification) =>
  SECONDS[relative(`${project.config.root}/test`, moduleId).replace(/\.test\.tsx?$/, '')] ?? FEW;

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return (await super.sort(files)).sort((a, b) => groupOf(a) - groupOf(b) || secondsOf(b) - secondsOf(a));
  }
}
