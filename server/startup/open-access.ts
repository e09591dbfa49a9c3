/** Opens access with its dependencies: sign-ins, origins, and rate limits. */
import {
  createAccess,
  createDeviceCodes,
  createGiveBeside,
  createRateLimit,
  createSignIn,
  type Origins,
} from '../access/index.ts';
import type { Config } from './config.ts';
import type { Homes } from '../households/index.ts';
import type { Db } from '../store/index.ts';

interface AccessParts {
  readonly db: Db;
  readonly relay: string;
  readonly homes: Homes;
  readonly origins: Origins;
  readonly port: number;
  readonly byTls: boolean;
}

export function openAccess(
  { config, now, elapsed }: { readonly config: Config; readonly now: () => number; readonly elapsed: () => number },
  { db, relay, homes, origins, port, byTls }: AccessParts,
) {
  const { publicUrl, proxied, cookieMs } = config;
  const deviceCodes = createDeviceCodes({ db, relay, now, onEnded: (browsers) => homes.endStreamsOf(browsers) });
  const signIn = createSignIn({ db, relay, now, linkMs: config.linkMs, cookieMs, deviceCodes });
  const access = createAccess({
    origins,
    signIn,
    rate: createRateLimit({ ...config.rate, elapsed }),
    port,
    secure: byTls || publicUrl !== null,
    proxied,
    cookieMs,
    credentials: { check: async (secret) => (await homes.ofSecret(secret)).credentials.check(secret) },
  });
  return { access, deviceCodes, giveBeside: createGiveBeside({ db, relay, now }), newCode: () => signIn.newCode() };
}
