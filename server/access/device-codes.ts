/**
 * Codes that a page shows for another device. They are stored by hash, with the sign-in that made
 * each, the guest that used it and the guest's offer.
 */
import { newId } from '../../src/shared/domain/platform/new-id.ts';
import { DEVICE_CODES } from '../../src/shared/protocol/device-code-settings.ts';
import type { DeviceCode, DeviceCodeState } from '../../src/shared/protocol/device-codes.ts';
import { deviceCodeEndpoints } from '../../src/shared/protocol/endpoints/access.ts';
import { answer, browserOf, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import type { Db } from '../store/index.ts';
import { hashOf, newSecret } from './credentials.ts';

export interface DeviceCodesDeps {
  readonly db: Db;
  /** The id of the relay. */
  readonly relay: string;
  readonly now: () => number;
  /** These sign-ins are over. */
  readonly onEnded: (browsers: readonly string[]) => void;
}

export interface DeviceCodes {
  /** `host`: the sign-in that makes the code. Null: it has too many. */
  make(host: string): Promise<Omit<DeviceCode, 'address'> | null>;
  /**
   * Uses a code, once, for a sign-in that is about to begin, or for an existing one where it is not
   * `isNew`. Resolves with when the guest status ends, in ms since the epoch. Null: the code is
   * invalid.
   */
  take(code: string, guest: string, isNew: boolean): Promise<number | null>;
  /** Null: unknown, or of another sign-in. */
  look(id: string, host: string): Promise<DeviceCodeState | null>;
  /** The guest stays. False: there is none. */
  letIn(id: string, host: string): Promise<boolean>;
  /**
   * Ends the code. A sign-in that rests on this code alone ends too, because it did not become a
   * device. That holds even where the person had compared the words. False: the code is unknown, or
   * of another sign-in.
   */
  end(id: string, host: string): Promise<boolean>;
  /** False: this sign-in did not come by a code that is still valid. */
  leaveOffer(guest: string, offer: string): Promise<boolean>;
}

export function createDeviceCodes({ db, relay, now, onEnded }: DeviceCodesDeps): DeviceCodes {
  const codes = () => db.selectFrom('device_codes').where('relay', '=', relay).where('ended_at', 'is', null);
  const madeAfter = () => now() - DEVICE_CODES.openMs;
  /** The period in which a guest may still become a device. */
  const known = () => now() - DEVICE_CODES.guestMs;

  return {
    async make(host) {
      await db.deleteFrom('device_codes').where('relay', '=', relay).where('made_at', '<', known()).execute();
      const open = await codes()
        .select('id')
        .where('host', '=', host)
        .where('guest', 'is', null)
        .where('made_at', '>=', madeAfter())
        .execute();
      if (open.length >= DEVICE_CODES.most) return null;
      const [id, code, madeAt] = [newId(), newSecret(), now()];
      await db
        .insertInto('device_codes')
        .values({ relay, id, code_hash: hashOf(code), host, guest: null, offer: null, made_at: madeAt, ended_at: null })
        .execute();
      return { id, code, until: madeAt + DEVICE_CODES.openMs };
    },
    async take(code, guest, isNew) {
      // One statement checks and uses the code, so only one of two concurrent calls finds it open.
      const taken = await db
        .updateTable('device_codes')
        .set({ guest, guest_is_new: isNew })
        .where('relay', '=', relay)
        .where('code_hash', '=', hashOf(code))
        .where('guest', 'is', null)
        .where('ended_at', 'is', null)
        .where('made_at', '>=', madeAfter())
        // The sign-in that shows the code is signed in already, so it cannot use it.
        .where('host', '!=', guest)
        .returning('made_at')
        .executeTakeFirst();
      return taken ? taken.made_at + DEVICE_CODES.guestMs : null;
    },
    async look(id, host) {
      const row = await db
        .selectFrom('device_codes')
        .select(['guest', 'offer', 'made_at', 'ended_at'])
        .where('relay', '=', relay)
        .where('id', '=', id)
        .where('host', '=', host)
        .executeTakeFirst();
      if (!row) return null;
      const { guest, offer } = row;
      const until = row.made_at + (guest === null ? DEVICE_CODES.openMs : DEVICE_CODES.guestMs);
      if (row.ended_at !== null || now() >= until) return { state: 'over', offer: null };
      return { state: guest === null ? 'open' : offer === null ? 'opened' : 'offered', offer };
    },
    async letIn(id, host) {
      const row = await codes().select('guest').where('id', '=', id).where('host', '=', host).executeTakeFirst();
      if (!row || row.guest === null) return false;
      const stays = await db
        .updateTable('browsers')
        .set({ guest_until: null })
        .where('relay', '=', relay)
        .where('token_hash', '=', row.guest)
        .executeTakeFirst();
      return stays.numUpdatedRows > 0n;
    },
    async end(id, host) {
      const ended = await db
        .updateTable('device_codes')
        .set({ ended_at: now(), offer: null })
        .where('relay', '=', relay)
        .where('id', '=', id)
        .where('host', '=', host)
        .where('ended_at', 'is', null)
        .returning(['guest', 'guest_is_new'])
        .executeTakeFirst();
      if (!ended) return false;
      if (ended.guest === null || !ended.guest_is_new) return true;
      const { guest } = ended;
      const out = await db
        .deleteFrom('browsers')
        .where('relay', '=', relay)
        .where((or) => or.or([or('token_hash', '=', guest), or('family', '=', guest)]))
        .returning('token_hash')
        .execute();
      if (out.length > 0) onEnded(out.map(({ token_hash }) => token_hash));
      return true;
    },
    async leaveOffer(guest, offer) {
      const left = await db
        .updateTable('device_codes')
        .set({ offer })
        .where('relay', '=', relay)
        .where('guest', '=', guest)
        .where('ended_at', 'is', null)
        .where('made_at', '>=', known())
        .executeTakeFirst();
      return left.numUpdatedRows > 0n;
    },
  };
}

/** `address`: where other machines reach the relay. Null where that is unknown. */
export function createDeviceCodeRoutes(codes: DeviceCodes, address: string | null): readonly Handled[] {
  const unknown = () => problem(404, 'no-code', 'There is no such code any more. Make a new one.');
  const orUnknown = (there: boolean) => {
    if (!there) throw unknown();
    return null;
  };
  return answer(deviceCodeEndpoints, {
    async makeDeviceCode(_, context) {
      const made = await codes.make(browserOf(context));
      if (made) return { ...made, address };
      throw problem(
        409,
        'too-many-codes',
        `${DEVICE_CODES.most} codes of this browser can still be opened. Use one of them, or wait a few minutes.`,
      );
    },
    async deviceCode({ id }, context) {
      const state = await codes.look(id, browserOf(context));
      if (!state) throw unknown();
      return state;
    },
    letDeviceIn: async ({ id }, context) => orUnknown(await codes.letIn(id, browserOf(context))),
    endDeviceCode: async ({ id }, context) => orUnknown(await codes.end(id, browserOf(context))),
    async leaveJoinOffer({ body: { offer } }, context) {
      if (await codes.leaveOffer(browserOf(context), offer)) return null;
      throw problem(409, 'no-code', 'The code by which this device came is over. Show a new one on the other device.');
    },
  });
}
