/**
 * How things are just now, for what is put before a mind; and what of that it has to be told,
 * economically.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { momentText } from '../../../src/shared/domain/zone-days.ts';
import { teammatesText } from '../../../src/shared/domain/teammates.ts';
import type { Configs, Directory } from '../../contracts/index.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';

/** What changes while somebody is at work, as it is now. */
export interface Around {
  /** ms since the epoch */
  readonly now: number;
  /** The household's. */
  readonly timeZone: string;
  readonly team: readonly TeamMember[];
}

/** A first message, which stays when the conversation outgrows its model. */
export interface Prompt {
  readonly text: string;
  /** The same in about so many characters, as far as it can be. The soul is never cut. */
  shortened(most: number): string;
}

export type ReadAround = () => Promise<Around>;

export interface ReadAroundDeps {
  readonly configs: Pick<Configs, 'household'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly now: () => number;
  /** It could not be read, and what was known before is told. */
  readonly onError: (error: unknown) => void;
}

export function createReadAround({ configs, directory, now, onError }: ReadAroundDeps): ReadAround {
  let known: Pick<Around, 'timeZone' | 'team'> | null = null;
  return async () => {
    try {
      const [{ effective }, team] = await Promise.all([configs.household(), directory.all()]);
      known = { timeZone: effective.time_zone, team };
    } catch (error) {
      // The day and the names are no reason to end a talk.
      if (known === null) throw error;
      onError(error);
    }
    return { now: now(), ...known };
  };
}

export interface News {
  /**
   * This prompt tells it how things are, and the time where it is in it: the person may have
   * written the template.
   */
  announced(around: Around, prompt: string): void;
  /**
   * Lines for what is said next: the time where it was told long ago or on another day, and who
   * lives here where that has changed.
   */
  since(around: Around): readonly string[];
}

const dayOf = ({ now, timeZone }: Around) => momentText(now, timeZone).split(',')[0];

export function createNews(agentId: AgentId, everyMs: number): News {
  let last: Around | null = null;
  return {
    announced(around, prompt) {
      last = { ...around, now: prompt.includes(momentText(around.now, around.timeZone)) ? around.now : -Infinity };
    },
    since(around) {
      const before = last ?? { ...around, now: -Infinity };
      const isLater = around.now - before.now >= everyMs || dayOf(around) !== dayOf(before);
      const team = teammatesText(around.team, agentId);
      const isOther = team !== teammatesText(before.team, agentId);
      last = { ...around, now: isLater ? around.now : before.now };
      return [
        ...(isLater ? [`[It is ${momentText(around.now, around.timeZone)}]`] : []),
        ...(isOther ? [`[With you live now: ${team ?? 'no other agents'}]`] : []),
      ];
    },
  };
}
