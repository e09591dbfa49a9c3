/**
 * The SDK of the protocol's clients. It is loaded when the first server is connected, because most
 * relays have none.
 */
import type * as client from '@modelcontextprotocol/client';
import { keepLoaded } from '../../../src/shared/domain/platform/single-flight.ts';

type Sdk = typeof client;
type ErrorName =
  | 'InsufficientScopeError'
  | 'IssuerMismatchError'
  | 'OAuthError'
  | 'SdkError'
  | 'SdkHttpError'
  | 'UnauthorizedError';

let loaded: Sdk | null = null;
const loading = keepLoaded(async () => (loaded = await import('@modelcontextprotocol/client')));

export const loadSdk = (): Promise<Sdk> => loading.get();

/** Only where `loadSdk` has resolved before. */
export function sdk(): Sdk {
  if (!loaded) throw new Error('The SDK of MCP clients is not loaded');
  return loaded;
}

/** Whether the error is of this class of the SDK. None is before the SDK is loaded. */
export const isSdkError = <Name extends ErrorName>(name: Name, error: unknown): error is InstanceType<Sdk[Name]> =>
  loaded !== null && error instanceof loaded[name];

/** The few variables that programs need to be found and to keep their sign-in. */
export async function programEnv(): Promise<Record<string, string>> {
  const { getDefaultEnvironment } = await import('@modelcontextprotocol/client/stdio');
  return getDefaultEnvironment();
}
