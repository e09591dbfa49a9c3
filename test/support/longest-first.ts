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
const SECONDS: Readonly<Record<string, number>> = {
  'browser/engines': 85,
  'browser/bench': 60,
  'browser/devices': 100,
  'relay/wake-line': 79,
  'browser/copies': 60,
  'browser/ledger': 60,
  'browser/scenes': 60,
  'faults/memory-life': 60,
  'browser/ledger-damage': 56,
  'relay/app-end': 64,
  'faults/damage': 45,
  'relay/homes': 80,
  'browser/story': 20,
  'browser/long-conversation': 52,
  'faults/ledger-kill': 25,
  'relay/rehearsal': 35,
  'relay/records': 34,
  'attacks/floods': 34,
  'relay/config': 32,
  'browser/phone': 32,
  'browser/reach': 32,
  'faults/relay-kill': 30,
  'relay/access': 29,
  'relay/sync-replication': 26,
  'relay/schedules': 26,
  'browser/homes': 26,
  'browser/ticks': 14,
  'browser/ledger-tabs': 24,
  'relay/wake-lead': 22,
  'browser/ahead': 22,
  'browser/night': 26,
  'browser/connect': 10,
  'relay/attached': 68,
  'relay/server-questions': 30,
  'relay/programs': 35,
  'relay/approvals': 65,
  'browser/archive': 21,
  'browser/ledger-stream': 20,
  'relay/store': 20,
  'relay/sync-socket': 20,
  'faults/one-wake': 18,
  'relay/run': 18,
  'browser/records': 18,
  'faults/line-cut': 18,
  'browser/page-key': 18,
  'browser/without-relay': 18,
  'faults/tab-kill': 18,
  'relay/summon': 17,
  'relay/reach': 17,
  'attacks/devices': 16,
  'attacks/connections-end': 16,
  'browser/layout': 16,
  'relay/events-kill': 14,
  'relay/wake': 14,
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
  'relay/app': 13,
  'relay/wake-attacks': 13,
  'attacks/budgets-kill': 12,
  'relay/night-faults': 12,
  'attacks/voices': 11,
  'relay/mcp-conformance': 11,
  'relay/clock-watch': 11,
  'relay/store-full': 10,
  'relay/outgrown': 10,
  'relay/schedules-routes': 10,
  'attacks/budgets-stop': 10,
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
