/**
 * The peer: a bare Hono server that holds requests until it is told to let them go. Prints its
 * port.
 */
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { createServer } from 'node:http';

let held = [];
const app = new Hono()
  .post('/hold', async (context) => {
    await context.req.text();
    await new Promise((resolve) => held.push(resolve));
    return context.text('released');
  })
  .get('/count', (context) => context.json({ held: held.length }))
  .post('/release', (context) => {
    const all = held;
    held = [];
    for (const resolve of all) resolve();
    return context.text('ok');
  });
const server = createServer(getRequestListener(app.fetch));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
