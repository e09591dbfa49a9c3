/**
 * The least that a proxy can do, in a process of its own: `node forwarder.mjs <url>` passes every
 * request on to there, and prints its port.
 */
import { Agent, createServer, request } from 'node:http';
import { URL } from 'node:url';

const upstream = new URL(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true });
const server = createServer((incoming, outgoing) => {
  const { method, headers, url: path } = incoming;
  const onward = request({ host: upstream.hostname, port: upstream.port, method, path, headers, agent }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', (error) => outgoing.destroy(error));
  incoming.pipe(onward);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
