/** Certificates for tests, and requests over TLS that trust them. */
import { readFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';

const path = (name: string) => fileURLToPath(new URL(`tls/${name}`, import.meta.url));
const filesOf = (name: string) => ({ cert: path(`${name}.crt`), key: path(`${name}.key`) });

/** For localhost, roost.example.org and 127.0.0.1; `name` is the subject. */
export const TLS_FILES = { localhost: filesOf('localhost'), renewed: filesOf('renewed') } as const;
export const CA = Object.values(TLS_FILES).map(({ cert }) => readFileSync(cert, 'utf8'));

export interface SecureResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Of the certificate that was shown. */
  readonly subject: string;
}

/** On a connection of its own, with any `Host`. */
export function secureRequest(
  options: RequestOptions & { readonly port: number; readonly path: string },
): Promise<SecureResponse> {
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', servername: 'localhost', ca: CA, agent: false, ...options },
      (response) => {
        const chunks: Buffer[] = [];
        const subject = String((response.socket as TLSSocket).getPeerCertificate().subject.CN);
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
            subject,
          }),
        );
      },
    );
    call.on('error', reject);
    call.end();
  });
}
