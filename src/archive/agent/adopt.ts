/** From an agent that was read from a file to the documents that let it live here. */
import type { SeatPosition } from '../../domain/seat.ts';
import type { Stamp } from '../../domain/stamp.ts';
import type { Doc } from '../../protocol/documents.ts';
import type { ParsedAgent } from '../types.ts';

export type Adoption =
  /**
   * The very agent that is in the folder, under its own id: where it lives here already, only what is
   * missing is added. null keeps the name or the seat that it has. `parsed.agentId` must not be null.
   */
  | {
      readonly as: 'itself';
      readonly parsed: ParsedAgent;
      readonly name: string | null;
      readonly position: SeatPosition | null;
      readonly stamp: () => Stamp;
      readonly newId: () => string;
    }
  /**
   * Somebody new under the id `agentId`: a first life for a soul written by hand, or a copy of the agent in the
   * folder, with all its memories, beside the original. The same `agentId` gives documents with the same ids.
   */
  | {
      readonly as: 'new';
      readonly parsed: ParsedAgent;
      readonly agentId: string;
      readonly name: string;
      readonly position: SeatPosition;
      /** ms since the epoch: when a soul written by hand begins to live. A copy keeps the birthday of the original. */
      readonly now: number;
      readonly stamp: () => Stamp;
      readonly newId: () => string;
    };

/** The documents to append, oldest first. */
export declare function adopt(adoption: Adoption): Doc[];
