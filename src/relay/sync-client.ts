/** The relay's calls about households: registering a device, offers to join, recovery. */
import {
  recoveryAnswerSchema,
  registeredSchema,
  slotSchema,
  type OfferSlot,
  type Register,
} from '../protocol/sync/control.ts';
import type { Called } from '../protocol/sync/line.ts';
import { parseJson, type RelayResult } from './problem.ts';
import { createSender, type SendDeps } from './send.ts';
import { RELAY_TIMES } from './settings.ts';

const PROBLEM_NAME = /^about:roost\/(.+)$/;

function called<Value>(result: RelayResult<Value>): Called<Value> {
  if (result.ok) return result;
  const { problem } = result;
  const refused = { ok: false, status: null, type: null, reason: problem.message, box: null } as const;
  switch (problem.kind) {
    case 'unreachable':
    case 'timeout':
      return refused;
    case 'locked-out':
      return { ...refused, status: 401 };
    case 'unreadable':
      return { ...refused, status: problem.status };
    case 'refused': {
      const { type, box } = problem.problem;
      return {
        ...refused,
        status: problem.status,
        type: PROBLEM_NAME.exec(type)?.[1] ?? null,
        box: typeof box === 'string' ? box : null,
      };
    }
  }
}

export function createSyncClient(deps: SendDeps) {
  const sender = createSender(deps);
  const timeout = RELAY_TIMES.call;
  const offer = (id: string) => `/api/sync/offers/${id}`;
  return {
    register: async (household: string, body: Register) =>
      called(
        await sender.answered(
          { method: 'PUT', path: `/api/sync/households/${household}`, body, timeout },
          registeredSchema,
        ),
      ),
    openOffer: async (id: string) => called(await sender.done({ method: 'PUT', path: offer(id), timeout })),
    closeOffer: async (id: string) => called(await sender.done({ method: 'DELETE', path: offer(id), timeout })),
    putSlot: async (id: string, slot: OfferSlot, data: string) =>
      called(await sender.done({ method: 'PUT', path: `${offer(id)}/${slot}`, body: { data }, timeout })),
    /** Null: nothing lies there yet. */
    async getSlot(id: string, slot: OfferSlot): Promise<Called<{ readonly data: string } | null>> {
      const words = called(await sender.words({ method: 'GET', path: `${offer(id)}/${slot}`, timeout }));
      if (!words.ok) return words;
      if (words.value === '') return { ok: true, value: null };
      const read = slotSchema.safeParse(parseJson(words.value));
      return read.success
        ? { ok: true, value: read.data }
        : {
            ok: false,
            status: null,
            type: null,
            reason: 'The relay answered with something that this page cannot read. Reload the page.',
            box: null,
          };
    },
    recovery: async (id: string) =>
      called(
        await sender.answered({ method: 'GET', path: `/api/sync/recoveries/${id}`, timeout }, recoveryAnswerSchema),
      ),
  };
}
