/** The relay's own certificate. It is read and checked, and read again when its files change. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { unwatchFile, watchFile } from 'node:fs';
import { isIP } from 'node:net';
import { StartError } from '../platform/errors.ts';

/** ms between two checks of the files. Polling also notices links and replaced folders. */
const LOOK_EVERY_MS = 30_000;

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Both in PEM: the certificate with its chain, and its key. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

export interface ReadDeps {
  readonly files: TlsFiles;
  /** The host name that browsers will use. Null where it is unknown. */
  readonly name: string | null;
  /** ms since the epoch. */
  readonly now: () => number;
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error));

async function read(path: string, what: string, flag: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new StartError(
      `The ${what} ${path} cannot be read (${codeOf(error)}). Make it readable for Roost, or name another file with ${flag}.`,
      1,
      { cause: error },
    );
  }
}

function certificateOf(text: string, path: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new StartError(
      `${path} holds no certificate in PEM form (-----BEGIN CERTIFICATE-----). Name another file with --tls-cert.`,
      1,
      { cause: error },
    );
  }
}

function keyOf(text: string, path: string) {
  if (/-----BEGIN ENCRYPTED |Proc-Type: 4,ENCRYPTED/.test(text))
    throw new StartError(`The key ${path} is locked with a passphrase. Name one without with --tls-key.`);
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw new StartError(
      `${path} holds no private key in PEM form (-----BEGIN PRIVATE KEY-----). Name another file with --tls-key.`,
      1,
      { cause: error },
    );
  }
}

const isFor = (certificate: X509Certificate, name: string) =>
  (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;

/**
 * Reads both files and checks that they fit together and are valid now. Throws `StartError` with
 * one line that says what is wrong.
 */
export async function readTlsPair({ files, name, now }: ReadDeps): Promise<TlsPair> {
  const pair = {
    cert: await read(files.cert, 'certificate', '--tls-cert'),
    key: await read(files.key, 'key', '--tls-key'),
  };
  const certificate = certificateOf(pair.cert, files.cert);
  if (!certificate.checkPrivateKey(keyOf(pair.key, files.key)))
    throw new StartError(
      `The key ${files.key} does not belong to the certificate ${files.cert}. Name two that do with --tls-cert and --tls-key.`,
    );
  if (now() > Date.parse(certificate.validTo))
    throw new StartError(`The certificate ${files.cert} ended on ${certificate.validTo}. Renew it.`);
  if (now() < Date.parse(certificate.validFrom))
    throw new StartError(
      `The certificate ${files.cert} is good only from ${certificate.validFrom} on. Set this machine's clock right, or wait.`,
    );
  if (name !== null && !isFor(certificate, name))
    throw new StartError(
      `The certificate ${files.cert} is not for ${name}: browsers would refuse it. Get one for that name, or set --public-url to a name that it is for.`,
    );
  return pair;
}

export interface TlsWatchDeps extends ReadDeps {
  /** A new and valid pair. */
  readonly onPair: (pair: TlsPair) => void;
  /** The new pair is invalid or unreadable. The previous one stays in use. */
  readonly onProblem: (error: StartError) => void;
  readonly lookEveryMs?: number;
}

export interface TlsWatch {
  /** Reads the files now. */
  reload(): Promise<void>;
  close(): void;
}

/**
 * Reads the files again when either has changed. If both are replaced one after another, the second
 * change completes the pair.
 */
export function watchTlsFiles({ onPair, onProblem, lookEveryMs = LOOK_EVERY_MS, ...deps }: TlsWatchDeps): TlsWatch {
  const paths = [deps.files.cert, deps.files.key];
  /** The last reported problem, because a file that is written in several steps is read in each. */
  let announced = '';
  async function reload(again: boolean): Promise<void> {
    try {
      const pair = await readTlsPair(deps);
      if (again || announced !== pair.cert + pair.key) onPair(pair);
      announced = pair.cert + pair.key;
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      if (again || announced !== error.message) onProblem(error);
      announced = error.message;
    }
  }
  const onChange = () => void reload(false);
  for (const path of paths) watchFile(path, { persistent: false, interval: lookEveryMs }, onChange);
  return {
    reload: () => reload(true),
    close() {
      for (const path of paths) unwatchFile(path, onChange);
    },
  };
}
