/**
 * The line between tabs and owner where there is no SharedWorker: one BroadcastChannel that all of them
 * hear. Each tab has an id, and holds a Web Lock of that name for as long as it lives, so that the owner
 * hears of its end.
 */
import { z } from 'zod';

export const tabLock = (tab: string) => `roost-tab-${tab}`;

/** From a tab: that it is there, or a call. */
export const fromTabSchema = z.union([z.object({ from: z.string(), hello: z.literal(true) }), z.object({ from: z.string(), message: z.unknown() })]);
export type FromTab = z.infer<typeof fromTabSchema>;

/** From the owner: that it has just begun (every tab says hello again), or something for one tab. */
export const toTabSchema = z.union([z.object({ owner: z.literal(true) }), z.object({ to: z.string(), message: z.unknown() })]);
export type ToTab = z.infer<typeof toTabSchema>;
