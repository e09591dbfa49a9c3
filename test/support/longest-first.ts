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
  'relay/attached': 157,
  'relay/programs': 155,
  'relay/approvals': 150,
  'browser/devices': 120,
  'browser/engines': 113,
  'browser/ledger-damage': 74,
  'browser/long-conversation': 72,
  'browser/ledger': 69,
  'relay/app-end': 64,
  'browser/bench': 60,
  'browser/copies': 60,
  'browser/scenes': 60,
  'faults/memory-life': 60,
  'attacks/owner-rights': 55,
  'relay/homes': 55,
  'attacks/yes': 50,
  'faults/damage': 45,
  'relay/events-kills': 35,
  'relay/schedules-routes': 35,
  'relay/wake-script': 35,
  'relay/workspaces': 35,
  'relay/records': 34,
  'attacks/floods': 34,
  'relay/config': 32,
  'browser/phone': 32,
  'browser/reach': 32,
  'faults/relay-kill': 30,
  'relay/schedules': 30,
  'relay/server-questions': 30,
  'relay/sync-replication': 26,
  'relay/rehearsal': 25,
  'browser/homes': 26,
  'browser/night': 26,
  'faults/ledger-kill': 25,
  'attacks/voices': 25,
  'browser/ledger-tabs': 24,
  'browser/ahead': 22,
  'relay/night-faults': 22,
  'relay/outgrown': 22,
  'attacks/restored': 22,
  'browser/archive': 21,
  'browser/story': 20,
  'browser/ledger-stream': 20,
  'relay/store': 20,
  'relay/sync-socket': 20,
  'relay/wake-line': 18,
  'faults/one-wake': 18,
  'relay/run': 18,
  'browser/records': 18,
  'faults/line-cut': 18,
  'browser/page-key': 18,
  'browser/without-relay': 18,
  'faults/tab-kill': 18,
  'relay/access': 16,
  'attacks/devices': 16,
  'attacks/connections-end': 16,
  'browser/layout': 16,
  'browser/ticks': 14,
  'relay/events-stream': 14,
  'relay/mcp-sleep': 14,
  'attacks/quotas-processes': 14,
  'attacks/connections': 14,
  'faults/replication': 14,
  'browser/files': 14,
  'browser/remembering': 14,
  'faults/later-parts': 14,
  'relay/start': 14,
  'relay/bench': 14,
  'relay/wake-attacks': 13,
  'relay/wake-lead': 13,
  'relay/summon': 12,
  'attacks/budgets-kill': 12,
  'relay/mcp-conformance': 11,
  'relay/events-kill': 11,
  'relay/clock-watch': 11,
  'browser/connect': 10,
  'relay/reach': 10,
  'relay/app': 10,
  'relay/store-full': 10,
  'attacks/budgets-stop': 10,
  'relay/wake': 6,
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
