/** A real Postgres server for one run of the relay's tests. */
import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres-process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the database `postgres`, as its superuser. */
    postgresUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startPostgres();
  project.provide('postgresUrl', url);
  return stop;
}
