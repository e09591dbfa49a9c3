/**
 * Where push services reach whoever runs the relay (the VAPID subject, RFC 8292): Apple's takes no
 * push without one.
 */
import type { PushContact } from '../../src/shared/protocol/notifications.ts';
import type { Db } from '../store/index.ts';

/** What goes out where nobody has said an address: other push services than Apple's do not look. */
export const NO_SUBJECT = 'https://roost.example';

/** How the relay was started. */
export interface PushSubject {
  /** `--push-subject`: nothing else counts then. */
  readonly given: string | null;
  /** The relay's own address under https://, where it has one. */
  readonly own: string | null;
}

export function createPushContact({ db, home, subject }: { db: Db; home: string; subject: PushSubject }) {
  return {
    async shown(): Promise<PushContact> {
      const row = await db.selectFrom('push_contacts').select('mail').where('home', '=', home).executeTakeFirst();
      const mail = row?.mail ?? null;
      return {
        subject: subject.given ?? (mail === null ? subject.own : `mailto:${mail}`),
        mail,
        fixed: subject.given !== null,
      };
    },
    /** Null: none is given any more. */
    async put(mail: string | null): Promise<void> {
      if (mail === null) return void (await db.deleteFrom('push_contacts').where('home', '=', home).execute());
      await db
        .insertInto('push_contacts')
        .values({ home, mail })
        .onConflict((conflict) => conflict.column('home').doUpdateSet({ mail }))
        .execute();
    },
  };
}
