/**
 * Credentials of API clients. Most stand for one agent: those of MCP clients, and of clients of the
 * model proxy. The others belong to applications, whose scopes say which calls they may make. A
 * secret is shown once, when it is created, and only its hash is stored. Every process on this
 * store refuses a revoked credential at once. So a process caches credentials only where it is the
 * only one.
 */
import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { createListeners } from '../../src/shared/domain/platform/events.ts';
import type { AgentId, RunId, SessionId } from '../../src/shared/domain/ids.ts';
import { type Scope, scopesSchema, USUAL_SCOPES } from '../../src/shared/protocol/scopes.ts';
import type { Credential } from '../../src/shared/protocol/team.ts';
import type { EventLog } from '../log/index.ts';
import { QUOTAS } from '../platform/quotas.ts';
import { type HomeStore, parseText } from '../store/index.ts';

// One-time codes and cookie tokens: 256 random bits each. Only their hashes are stored.

export const newSecret = (): string => randomBytes(32).toString('base64url');

/**
 * A secret of this length cannot be guessed, so its hash needs neither salt nor a slow function.
 */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Identifies the secret to people and secret scanners. */
const SECRET_PREFIX = 'roost_';
/** ms between two updates of when a credential was last used. */
export const NOTE_USE_EVERY_MS = 60_000;
/** Characters of the secret that are stored, to tell it apart. */
const HINT_LENGTH = 4;

interface CredentialsDeps extends HomeStore {
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Pick<EventLog, 'append'>;
  /** No other process can have this store open, as with the embedded one. */
  readonly alone?: boolean;
}

/** The agent or application that a secret stands for. */
export interface Bearer {
  /** Null: an application. */
  readonly agentId: AgentId | null;
  readonly credentialId: string;
  /** The person's name for it. */
  readonly label: string;
  /** The client may read its agent's soul and last conversation. */
  readonly readsSoul: boolean;
  /** The application's scopes. Empty for an agent. */
  readonly scopes: readonly Scope[];
  /** Set for a credential that the relay issued to one run of its agent. */
  readonly run?: { readonly runId: RunId; readonly sessionId: SessionId | null };
}

export interface Credentials {
  /** A secret for one run of an agent, stored only in this process's memory. */
  lend(agentId: AgentId, label: string, run: NonNullable<Bearer['run']>): { readonly secret: string; release(): void };
  /**
   * `secret` is returned here and never again. `readsSoul` applies only to an agent, `scopes` only
   * to an application. An application without named scopes gets the usual ones.
   */
  make(
    agentId: AgentId | null,
    label: string,
    grants?: { readonly readsSoul?: boolean; readonly scopes?: readonly Scope[] | undefined },
  ): Promise<{ readonly credential: Credential; readonly secret: string }>;
  /** The secret belongs to a run, and is still valid. */
  lends(secret: string): boolean;
  /** The number of valid credentials is at its limit. */
  full(): Promise<boolean>;
  /** Newest first, including revoked ones. */
  list(): Promise<readonly Credential[]>;
  /**
   * From now on the credential is refused. False where it does not exist. A repeated call returns
   * true.
   */
  revoke(credentialId: string): Promise<boolean>;
  /** Null where it is unknown or revoked. Records its use, at most once a minute. */
  check(secret: string): Promise<Bearer | null>;
  /**
   * Called when this process revokes a credential, to end its running calls. Returns a function
   * that unsubscribes.
   */
  onRevoke(listener: (credentialId: string) => void): () => void;
}

const scopesOf = (json: string | null): readonly Scope[] => (json === null ? [] : scopesSchema.parse(JSON.parse(json)));
const agentOf = (json: string): string | null => (json === 'null' ? null : parseText(json));

/** A cached credential of `check`. */
interface Known {
  readonly bearer: Bearer;
  readonly usedAt: number | null;
}

export function createCredentials({ db, home, now, newId, log, alone = false }: CredentialsDeps): Credentials {
  /** Known credentials by their hash. */
  const holders = new Map<string, Known>();
  /** Credentials of runs by their hash. */
  const lent = new Map<string, Bearer>();
  /** Counts the starts and ends of revocations. A result that was read across one is not cached. */
  let turn = 0;

  async function find(hash: string): Promise<Known | null> {
    const before = holders.get(hash);
    if (before) return before;
    const began = turn;
    const row = await db
      .selectFrom('credentials')
      .select(['credential', 'agent_json', 'label_json', 'used_at', 'reads_soul', 'scopes_json'])
      .where('home', '=', home)
      .where('secret_hash', '=', hash)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    if (!row) return null;
    const holder: Known = {
      bearer: {
        agentId: agentOf(row.agent_json),
        credentialId: row.credential,
        label: parseText(row.label_json),
        readsSoul: row.reads_soul,
        scopes: scopesOf(row.scopes_json),
      },
      usedAt: row.used_at,
    };
    if (alone && began === turn) holders.set(hash, holder);
    return holder;
  }
  function forget(credentialId: string): void {
    turn += 1;
    for (const [hash, { bearer }] of holders) if (bearer.credentialId === credentialId) holders.delete(hash);
  }

  const revocations = createListeners<[credentialId: string]>();
  const changed = (agentId: AgentId | null) =>
    log.append([{ kind: 'changed', time: now(), what: 'credentials', agentId }]);

  return {
    lend(agentId, label, run) {
      const secret = `${SECRET_PREFIX}${newSecret()}`;
      const credentialId = newId();
      lent.set(hashOf(secret), { agentId, credentialId, label, readsSoul: true, scopes: [], run });
      return {
        secret,
        release() {
          if (lent.delete(hashOf(secret))) revocations.tell(credentialId);
        },
      };
    },
    lends: (secret) => lent.has(hashOf(secret)),
    async make(agentId, label, grants) {
      const readsSoul = agentId !== null && (grants?.readsSoul ?? false);
      const scopes = agentId === null ? [...(grants?.scopes ?? USUAL_SCOPES)] : [];
      const secret = `${SECRET_PREFIX}${newSecret()}`;
      const credential: Credential = {
        credentialId: newId(),
        agentId,
        label,
        readsSoul,
        scopes,
        hint: secret.slice(-HINT_LENGTH),
        madeAt: now(),
        usedAt: null,
        revokedAt: null,
      };
      await db
        .insertInto('credentials')
        .values({
          home,
          credential: credential.credentialId,
          agent_json: JSON.stringify(agentId),
          label_json: JSON.stringify(label),
          secret_hash: hashOf(secret),
          hint: credential.hint,
          made_at: credential.madeAt,
          used_at: null,
          revoked_at: null,
          reads_soul: readsSoul,
          scopes_json: agentId === null ? JSON.stringify(scopes) : null,
        })
        .execute();
      await changed(agentId);
      return { credential, secret };
    },
    async full() {
      const { count } = await db
        .selectFrom('credentials')
        .select(sql<string>`count(*)`.as('count'))
        .where('home', '=', home)
        .where('revoked_at', 'is', null)
        .executeTakeFirstOrThrow();
      return Number(count) >= QUOTAS.credentials.valid;
    },
    async list() {
      const rows = await db
        .selectFrom('credentials')
        .selectAll()
        .where('home', '=', home)
        .orderBy('made_at', 'desc')
        .orderBy('credential')
        .execute();
      return rows.map((row) => ({
        credentialId: row.credential,
        agentId: agentOf(row.agent_json),
        label: parseText(row.label_json),
        readsSoul: row.reads_soul,
        scopes: [...scopesOf(row.scopes_json)],
        hint: row.hint,
        madeAt: row.made_at,
        usedAt: row.used_at,
        revokedAt: row.revoked_at,
      }));
    },
    async revoke(credentialId) {
      const mine = db.selectFrom('credentials').where('home', '=', home).where('credential', '=', credentialId);
      forget(credentialId);
      const revoked = await db
        .updateTable('credentials')
        .set({ revoked_at: now() })
        .where('home', '=', home)
        .where('credential', '=', credentialId)
        .where('revoked_at', 'is', null)
        .returning('agent_json')
        .executeTakeFirst()
        .finally(() => forget(credentialId));
      // Shows only the newest of the revoked credentials.
      const old = db
        .selectFrom('credentials')
        .select('credential')
        .where('home', '=', home)
        .where('revoked_at', 'is not', null)
        .orderBy('revoked_at', 'desc')
        .offset(QUOTAS.credentials.revokedKept);
      if (revoked) await db.deleteFrom('credentials').where('home', '=', home).where('credential', 'in', old).execute();
      if (!revoked) return (await mine.select('credential').executeTakeFirst()) !== undefined;
      revocations.tell(credentialId);
      await changed(agentOf(revoked.agent_json));
      return true;
    },
    async check(secret) {
      if (!secret.startsWith(SECRET_PREFIX)) return null;
      const hash = hashOf(secret);
      const borrowed = lent.get(hash);
      if (borrowed) return borrowed;
      const holder = await find(hash);
      if (!holder) return null;
      const { bearer, usedAt } = holder;
      const noted = now() - NOTE_USE_EVERY_MS;
      const ahead = now() + NOTE_USE_EVERY_MS;
      // A time in the future: the clock has been set back since.
      if (usedAt === null || usedAt <= noted || usedAt > ahead) {
        const time = now();
        const note = await db
          .updateTable('credentials')
          .set({ used_at: time })
          .where('home', '=', home)
          .where('credential', '=', bearer.credentialId)
          // Of many concurrent calls only one writes.
          .where((or) => or.or([or('used_at', 'is', null), or('used_at', '<=', noted), or('used_at', '>', ahead)]))
          .executeTakeFirst();
        if (holders.has(hash)) holders.set(hash, { bearer, usedAt: time });
        // Notifies pages that the credential is in use.
        if (note.numUpdatedRows > 0n) await changed(bearer.agentId);
      }
      return bearer;
    },
    onRevoke: revocations.subscribe,
  };
}
