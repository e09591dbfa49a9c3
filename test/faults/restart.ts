/** Kills the relay in states of its parts, and holds the rules of all parts after each start. */
import { demand, Fault } from './checks.ts';
import { holdRules, linesOfLog, openScene, type Scene } from './restart-scene.ts';
import { type RestartState, STATES } from './restart-states.ts';

const HOUR = 3_600_000;

async function killIn(scene: Scene, { part, name, bring }: RestartState, later: boolean): Promise<void> {
  try {
    const after = await bring(scene);
    const logBefore = Math.max(0, linesOfLog(scene).length - 1);
    await scene.kill();
    await scene.start(later ? HOUR : 0);
    await after(later);
    await holdRules(scene, logBefore);
  } catch (error) {
    throw new Fault(`${part}, ${name}, started ${later ? 'an hour later' : 'at once'}`, [
      error instanceof Error ? error.message : String(error),
    ]);
  }
}

/**
 * One relay on one home lives through all of it. A state that breaks a rule is reported at the end,
 * and the others go on with another relay. Resolves with the number of kills.
 */
export async function killInStates(
  states: readonly RestartState[],
  when: readonly ('at once' | 'later')[] = ['at once', 'later'],
  say: (line: string) => void = () => undefined,
): Promise<number> {
  let scene: Scene | null = null;
  let kills = 0;
  const faults: string[] = [];
  try {
    for (const state of states)
      for (const how of when) {
        const started = performance.now();
        scene ??= await openScene();
        try {
          await killIn(scene, state, how === 'later');
          say(`${state.part}, ${state.name}, ${how}: ${((performance.now() - started) / 1_000).toFixed(1)} s`);
        } catch (error) {
          faults.push(error instanceof Error ? error.message : String(error));
          say(faults.at(-1) ?? '');
          await scene.close().catch(() => undefined);
          scene = null;
        }
        kills += 1;
      }
  } finally {
    await scene?.close();
  }
  demand('After a kill', faults);
  return kills;
}

export const statesOf = (...parts: readonly string[]): readonly RestartState[] =>
  parts.length === 0 ? STATES : STATES.filter(({ part, name }) => parts.includes(`${part}, ${name}`));
