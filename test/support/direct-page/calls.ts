/** What the page of direct connections and its owner say to each other. */
import { z } from 'zod';
import type { DirectReport } from '../../../src/shared/protocol/sync/page.ts';
import type { WorkerNews } from '../../../src/shared/protocol/worker.ts';

const configSchema = z.object({ household: z.string(), deviceId: z.string() });
export type DirectConfig = z.infer<typeof configSchema>;
export const configOf = (text: string): DirectConfig => configSchema.parse(JSON.parse(text));

export interface DirectCalls {
  direct(report: DirectReport): null;
  setOnline(deviceIds: readonly string[]): null;
  hearSignal(from: string, data: string): null;
  makeOffer(): string;
  takeText(text: string): string | null;
  connections(): readonly string[];
  /** Sends as there is room; answers the length and digest of each frame. */
  send(frames: readonly Uint8Array[]): readonly string[];
  /** Length and digest of each frame that came. */
  received(): readonly string[];
  /** `buffered`: bytes that have not left, and frames that wait for room. */
  waiting(): { readonly mostBuffered: number; readonly buffered: number };
}

export interface Signal {
  readonly from: string;
  readonly to: string;
  readonly data: string;
}
export type FromDirectOwner =
  | { readonly news: WorkerNews }
  | { readonly signal: Signal }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };
