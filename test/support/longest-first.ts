/**
 * The order of the files: what takes longest begins first, so that no core waits for one file at the end, and what keeps a core
 * busy takes turns with what mostly waits.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds, about, as a run prints them at its end; what is not named takes few. A wrong one costs a little time and nothing else. */
const SECONDS: Readonly<Record<string, number>> = {
  'browser/engines': 100,
  'browser/devices': 70,
  'relay/wake-line': 66,
  'browser/copies': 60,
  'browser/ledger': 60,
  'browser/scenes': 60,
  'faults/memory-life': 60,
  'browser/ledger-damage': 56,
  'relay/app-end': 49,
  'faults/damage': 45,
  'relay/homes': 44,
  'browser/story': 38,
  'browser/long-conversation': 40,
  'faults/ledger-kill': 35,
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
  'browser/ticks': 26,
  'browser/ledger-tabs': 24,
  'relay/wake-lead': 22,
  'browser/ahead': 22,
  'browser/night': 22,
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

/** Every list is gone through at the pace at which it comes to its end together with the others. */
function interleaved(lists: readonly (readonly TestSpecification[])[]): TestSpecification[] {
  const placed = lists.flatMap((list) => {
    const whole = list.reduce((sum, spec) => sum + secondsOf(spec), 0);
    let before = 0;
    return list.map((spec) => {
      const at = before / whole;
      before += secondsOf(spec);
      return { spec, at };
    });
  });
  return placed.sort((a, b) => a.at - b.at).map(({ spec }) => spec);
}

function groupsOf<Key>(specs: readonly TestSpecification[], keyOf: (spec: TestSpecification) => Key) {
  const groups = new Map<Key, TestSpecification[]>();
  for (const spec of specs) {
    const key = keyOf(spec);
    const group = groups.get(key);
    if (group) group.push(spec);
    else groups.set(key, [spec]);
  }
  return groups;
}

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = (await super.sort(files)).sort((a, b) => secondsOf(b) - secondsOf(a));
    const groups = groupsOf(sorted, ({ project }) => project.config.sequence.groupOrder);
    return [...groups]
      .sort(([a], [b]) => a - b)
      .flatMap(([, group]) => interleaved([...groupsOf(group, ({ project }) => project.name).values()]));
  }
}
