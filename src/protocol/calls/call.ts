/** What a call of the relay is described by. */
import type { z } from 'zod';

export interface CallAnswer {
  readonly status: number;
  readonly when: string;
  /** What a success carries; every status from 400 on carries a problem document. */
  readonly body?: z.ZodType;
}

export interface CallParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly does: string;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly does: string;
  /** Needs no session cookie. */
  readonly open?: true;
  readonly parameters?: readonly CallParameter[];
  readonly body?: z.ZodType;
  readonly answers: readonly CallAnswer[];
}
