/** All attacks at once, beside somebody who is honest; and what must hold then. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../support/random.ts';
import { openAttackers, type Attackers, type Findings } from './attackers.ts';
import { takenBy } from '../../support/processor.ts';
import { type Floor, openFloor } from './floor.ts';
import { openHonest, type Honesty, PAUSE_MS } from './honest.ts';
import { createOutage, type Outage } from './outage.ts';
import { openScene, type Scene } from './scene.ts';

export interface Mix {
  /** The honest person alone, for so long: ms of their calls, and to whole answers. */
  calm(ms: number): Promise<Timed>;
  /**
   * The attacks of a seed: each once, and on for so long. `only`: names of attacks. The database is
   * there all the while then. Rejects with what was wrong.
   */
  attack(seed: number, ms: number, only?: readonly string[]): Promise<Attacked>;
  /** Ends it all, and looks at what is left. Rejects with what was wrong. */
  close(): Promise<void>;
}
export interface Timed {
  readonly times: readonly number[];
  readonly answers: readonly number[];
  /** The same calls at a bare server beside the relay: the machine’s part of it. */
  readonly floor: readonly number[];
  /** ms by which the relay’s event loop was late at most, 99 times of 100. */
  readonly lateMs: number;
  /** ms of the processor, by whose they are. */
  readonly taken: Taken;
}
/** `programs`: of the relay. */
type Taken = Readonly<Record<'relay' | 'programs' | 'attackers' | 'others', number>>;
export interface Attacked extends Timed {
  readonly made: Findings['made'];
  readonly outage: string;
  readonly repeated: number;
  readonly memoryMb: number;
}

/** Attacks that go on at once. */
const WORKERS = 6;
/** ms from the first attack on until the database is away. */
const OUTAGE_AFTER_MS = 1_000;
/** MB by which attacks may leave the relay larger. */
const GROWN_MB = 600;

/** What happens to the database meanwhile. */
function outageOf(seed: number): { readonly how: 'frozen' | 'killed'; readonly ms: number } | null {
  const random = createRandom(seed + 7_919);
  const [chance, length] = [random(), random()];
  if (chance < 0.4) return { how: 'frozen', ms: 500 + Math.floor(length * 3_500) };
  return chance < 0.55 ? { how: 'killed', ms: 500 + Math.floor(length * 1_500) } : null;
}

function demandNone(faults: readonly string[]): void {
  const shown = [...new Set(faults)].slice(0, 20);
  if (faults.length > 0) throw new Error(`${faults.length} faults:\n${shown.join('\n')}`);
}

export async function openMix(): Promise<Mix> {
  const attackers: Attackers = await openAttackers();
  const scene: Scene = await openScene(attackers).catch(async (error: unknown) => {
    await attackers.close();
    throw error;
  });
  const outage: Outage = createOutage(scene);
  const honest: Honesty = await openHonest(scene, createRandom(1), outage);
  const floor: Floor = await openFloor(PAUSE_MS, createRandom(2));
  const atFirst = scene.memoryMb();
  let repeated = 0;

  /** `others`: the honest person with their model, the database, the bare server. */
  function takenNow(): Taken {
    const [relay, attack, all] = [scene.relayPid, attackers.pid, process.pid].map(takenBy);
    const sum = (taken?: { own: number; started: number }) => (taken?.own ?? 0) + (taken?.started ?? 0);
    return {
      relay: relay?.own ?? 0,
      programs: relay?.started ?? 0,
      attackers: sum(attack),
      others: sum(all) - sum(attack) - sum(relay),
    };
  }
  /** What has been timed since this was called last. */
  let before = takenNow();
  async function timed(): Promise<Timed> {
    const now = takenNow();
    const taken = {
      relay: now.relay - before.relay,
      programs: now.programs - before.programs,
      attackers: now.attackers - before.attackers,
      others: now.others - before.others,
    };
    before = now;
    const lateMs = scene.ended() ? 0 : await scene.lag.late();
    return { times: honest.times(), answers: honest.answers(), floor: floor.times(), lateMs, taken };
  }

  function faults(more: readonly string[]): string[] {
    const ended = scene.ended();
    return [
      ...honest.faults,
      ...more,
      ...(ended ? [`the relay ended with ${ended.code ?? ended.signal}\n${ended.stdout.slice(-3_000)}`] : []),
    ];
  }

  return {
    async calm(ms) {
      await sleep(ms);
      demandNone(faults([]));
      return await timed();
    },
    async attack(seed, ms, only) {
      const away = only ? null : outageOf(seed);
      const [findings] = await Promise.all([
        attackers.attack({ target: scene.target, seed, ms, workers: WORKERS, ...(only && { only }) }),
        away && sleep(OUTAGE_AFTER_MS).then(() => outage.happen(away.how, away.ms)),
      ]);
      const memoryMb = scene.ended() ? 0 : scene.memoryMb();
      demandNone(
        faults([
          ...findings.found,
          ...(memoryMb - atFirst > GROWN_MB ? [`the relay grew from ${atFirst} to ${memoryMb} MB`] : []),
        ]),
      );
      const again = honest.repeated() - repeated;
      repeated += again;
      return {
        ...(await timed()),
        made: findings.made,
        outage: away ? `${away.how} for ${away.ms} ms` : 'there',
        repeated: again,
        memoryMb,
      };
    },
    async close() {
      const more: string[] = [];
      try {
        if (scene.ended() === null) await honest.end();
      } catch (error) {
        more.push(String(error));
      }
      const left = faults(more);
      await Promise.all([attackers.close(), floor.close()]);
      const { code, stdout, stderr } = await scene.close();
      if (code !== 0) left.push(`the relay ended with ${code ?? 'a signal'}: ${stderr.slice(-500)}`);
      if (/\n\s+at .*:\d+:\d+/.test(stdout + stderr))
        left.push(`the relay has told of an error: ${stdout.slice(-3_000)}`);
      demandNone(left);
    },
  };
}
