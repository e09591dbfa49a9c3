/** The mind that stands in where no model is connected. Deterministic; it thinks nothing and says so. */
import { randomBytes } from 'node:crypto';
import { seatNumber } from '../../../src/domain/seat.ts';
import { rehearsalSchema, type Rehearsal } from '../../../src/protocol/http.ts';
import type { TeamMember } from '../../../src/protocol/team.ts';
import { createAnthropicMind } from '../anthropic.ts';
import type { Mind } from '../mind.ts';
import { REHEARSAL_MODEL } from '../settings.ts';
import { startRehearsalServer } from './server.ts';

/** Whom it may write to. */
export interface Acquaintances {
  all(): Promise<readonly TeamMember[]>;
}

export interface RehearsalMind extends Mind {
  options(): Rehearsal;
  /** Holds from the next request on. */
  setOptions(options: Rehearsal): void;
  /** Whom a command to it may name. Until it is told, nobody. */
  meet(directory: Acquaintances): void;
}

/** Starts the loopback server; `close()` stops it. */
export async function createRehearsalMind(initial: Partial<Rehearsal> = {}): Promise<RehearsalMind> {
  let options = rehearsalSchema.parse(initial);
  const token = randomBytes(24).toString('base64url');
  let directory: Acquaintances | null = null;
  async function team(): Promise<ReadonlySet<string>> {
    const members = (await directory?.all()) ?? [];
    return new Set(
      members.flatMap(({ agentId, name, position }) => [
        name.toLowerCase(),
        agentId.toLowerCase(),
        ...(position === null ? [] : [`seat ${seatNumber(position)}`]),
      ]),
    );
  }
  const server = await startRehearsalServer({ token, options: () => options, team });
  const mind = createAnthropicMind({
    key: token,
    baseUrl: server.baseUrl,
    keyHeader: 'bearer',
    thinking: false,
    kind: 'rehearsal',
    models: { lead: REHEARSAL_MODEL, agent: REHEARSAL_MODEL },
  });
  return {
    // A model that the person chose is for the day when one is connected.
    models: () => mind.models({ lead: '', agent: '' }),
    answer: (request, listener) => mind.answer(request, listener),
    options: () => options,
    setOptions(next) {
      options = next;
    },
    meet(next) {
      directory = next;
    },
    close: () => server.close(),
  };
}
