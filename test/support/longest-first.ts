/**
 * The order of the files: what takes longest begins first, so that no core waits for one file at the end, and what keeps a core
 * busy takes turns with what mostly waits.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds, about, as a run prints them at its end; what is not named takes few. A wrong one costs a little time and nothing else. */
const SECONDS: Readonly<Record<string, number>> = {
  'browser/devices': 130,
  'browser/engines': 120,
  'browser/ledger': 70,
  'browser/copies': 70,
  'browser/ledger-stream': 70,
  'browser/ledger-damage': 65,
  'browser/story': 60,
  'browser/scenes': 60,
  'browser/phone': 45,
  'browser/reach': 45,
  'browser/records': 24,
  'browser/archive': 24,
  'browser/homes': 22,
  'browser/ticks': 20,
  'browser/ahead': 20,
  'browser/night': 16,
  'browser/files': 12,
  'relay/wake-line': 65,
  'relay/app-end': 58,
  'faults/damage': 45,
  'relay/events-kill': 45,
  'relay/homes': 40,
  'faults/one-wake': 35,
  'relay/rehearsal': 35,
  'relay/records': 35,
  'relay/config': 32,
  'relay/store': 30,
  'faults/memory-life': 29,
  'attacks/floods': 28,
  'relay/access': 24,
  'relay/wake-lead': 24,
  'relay/store-full': 23,
  'relay/sync-replication': 22,
  'attacks/budgets-kill': 22,
  'attacks/voices': 21,
  'relay/outgrown': 19,
  'relay/summon': 18,
  'relay/store-power': 18,
  'faults/replication': 15,
  'faults/line-cut': 15,
  'relay/workspaces': 14,
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
