// Draws openapi.json. Text from it is only ever set as text, never as markup.
'use strict';

const DEPTH_MAX = 3;

fetch('openapi.json')
  .then((answer) => answer.json())
  .then(draw)
  .catch((error) => {
    find('calls').replaceChildren(element('p', { class: 'fault' }, 'openapi.json could not be read: ' + error.message));
  });

function draw(document_) {
  find('version').textContent = document_.info.version;
  find('about').replaceChildren(...prose(document_.info.description));
  const groups = document_.tags.map((tag) => ({ tag, calls: callsOf(document_, tag.name) }));
  const used = groups.filter((group) => group.calls.length > 0);
  find('index').replaceChildren(...used.map(indexGroup));
  find('calls').replaceChildren(...used.map((group) => callGroup(document_, group)));
  find('search').addEventListener('input', (event) => search(event.target.value));
  if (location.hash) find(location.hash.slice(1))?.scrollIntoView();
}

function callsOf(document_, tag) {
  const all = Object.entries(document_.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]) => ({ path, method, call })));
  return all.filter(({ call }) => call.tags.includes(tag));
}

function indexGroup({ tag, calls }) {
  const items = calls.map(({ path, method, call }) => element('li', { 'data-call': call.operationId },
    element('a', { href: '#' + call.operationId, title: path },
      element('span', { class: 'method ' + method }, method.toUpperCase()), call.summary)));
  return element('section', { 'data-group': tag.name }, element('h2', {}, tag.name), element('ul', {}, ...items));
}

function callGroup(document_, { tag, calls }) {
  return element('section', { class: 'group', 'data-group': tag.name }, element('h2', {}, tag.name),
    element('p', {}, ...prose(tag.description)), ...calls.map((known) => drawCall(document_, known)));
}

function drawCall(document_, { path, method, call }) {
  const id = call.operationId;
  const parts = [
    element('h3', {}, element('a', { href: '#' + id }, call.summary)),
    element('p', { class: 'line' }, element('span', { class: 'method ' + method }, method.toUpperCase()),
      element('span', { class: 'path' }, ...pathParts(path)), element('span', { class: 'key' }, keyNeeded(document_, call))),
  ];
  if (call.description) parts.push(element('p', {}, ...prose(call.description)));
  if (call.parameters) parts.push(element('h4', {}, 'Parameters'), parameterTable(document_, call.parameters));
  const content = bodyAsked(call);
  if (content) parts.push(element('h4', {}, 'Body'), bodyOf(document_, content));
  parts.push(element('h4', {}, 'Example'), sample(curl(document_, { path, method, call })));
  parts.push(element('h4', {}, 'Answers'), answers(document_, call));
  return element('article', { class: 'call', id, 'data-call': id, 'data-text': [id, path, method, call.summary].join(' ').toLowerCase() }, ...parts);
}

// Of the forms that a body may have the one in JSON, or else the first.
function bodyAsked(call) {
  const forms = call.requestBody ? Object.entries(call.requestBody.content) : [];
  return forms.find(([type]) => type === 'application/json') || forms[0];
}

function pathParts(path) {
  return path.split(/(\{[^}]+\})/).map((part) => (part.startsWith('{') ? element('b', {}, part) : part));
}

function keyNeeded(document_, call) {
  const ways = call.security || document_.security;
  const open = ways.some((way) => Object.keys(way).length === 0);
  if (!open) return 'Bearer key';
  return ways.length > 1 ? 'Bearer key, or none' : 'No key';
}

function parameterTable(document_, parameters) {
  const rows = parameters.map((parameter) => row(parameter.name, 0, parameter.required,
    [parameter.in, kind(document_, parameter.schema).replace(' or null', '')].join(', '), explained(document_, parameter.schema, parameter.description)));
  return element('table', {}, element('tbody', {}, ...rows));
}

function bodyOf(document_, [media, { schema }]) {
  if (media !== 'application/json') return element('p', {}, media === '*/*' ? 'Any bytes.' : media);
  return fieldTable(document_, schema);
}

function fieldTable(document_, schema) {
  const rows = fieldRows(document_, schema, 0);
  if (rows.length === 0) {
    const shown = resolve(document_, schema);
    return element('p', {}, ...prose(shown.description || kind(document_, schema)));
  }
  return element('table', {}, element('tbody', {}, ...rows));
}

function fieldRows(document_, schema, depth) {
  const shown = plain(document_, schema);
  if (shown.oneOf) return shown.oneOf.flatMap((way) => fieldRows(document_, way, depth));
  const required = shown.required || [];
  return Object.entries(shown.properties || {}).flatMap(([name, field]) => {
    const inner = plain(document_, field);
    const own = row(name, depth, required.includes(name), kind(document_, field), explained(document_, field, field.description));
    const below = depth < DEPTH_MAX ? fieldRows(document_, inner.items || inner, depth + 1) : [];
    return [own, ...below];
  });
}

function row(name, depth, required, kindText, words) {
  const shown = element('td', { class: 'name depth' + depth }, name);
  if (required) shown.append(element('span', { class: 'must' }, 'required'));
  return element('tr', {}, shown, element('td', { class: 'kind' }, kindText), element('td', {}, ...words));
}

function explained(document_, schema, description) {
  const shown = plain(document_, schema);
  const words = prose(description || (schema.$ref ? '' : shown.description) || '');
  const facts = [];
  if (shown.enum) facts.push(shown.enum.join(' | '));
  if (shown.minimum !== undefined && shown.maximum !== undefined) facts.push(shown.minimum + ' to ' + shown.maximum);
  if (shown.default !== undefined) facts.push('default ' + JSON.stringify(shown.default));
  if (facts.length === 0) return words;
  return [...words, words.length ? ' ' : '', element('span', { class: 'words' }, facts.join('; '))];
}

function kind(document_, schema) {
  const shown = plain(document_, schema);
  const types = [shown.type].flat().filter((type) => type && type !== 'null');
  const orNull = admitsNull(schema) ? ' or null' : '';
  if (shown.items) return 'array of ' + kind(document_, shown.items) + orNull;
  if (shown.additionalProperties) return 'map of ' + kind(document_, shown.additionalProperties) + orNull;
  if (shown.oneOf) return [...new Set(shown.oneOf.map((way) => kind(document_, way)))].join(' or ') + orNull;
  const format = ['date-time', 'uri'].includes(shown.format) ? ' (' + shown.format + ')' : '';
  return (types.join(' or ') || 'any') + format + orNull;
}

function admitsNull(schema) {
  return [schema.type].flat().includes('null') || (schema.oneOf || []).some((way) => way.type === 'null');
}

function answers(document_, call) {
  return element('div', {}, ...Object.entries(call.responses).map(([status, answer]) => {
    const head = element('summary', {}, element('span', { class: 'status s' + status[0] }, status), ...prose(answer.description));
    const inside = () => element('div', { class: 'body' }, ...answerBody(document_, answer));
    const isShown = status[0] === '2' && Boolean(answer.content);
    return isShown ? element('details', { open: '' }, head, inside()) : unfolding(head, inside);
  }));
}

// What is inside is drawn when it is opened: most of a long page never is.
function unfolding(head, inside) {
  const details = element('details', {}, head);
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) details.append(inside());
  });
  return details;
}

function answerBody(document_, answer) {
  const content = Object.entries(answer.content || {})[0];
  const headers = Object.keys(answer.headers || {});
  const parts = headers.length ? [element('p', { class: 'words' }, 'With the header ' + headers.join(', ') + '.')] : [];
  if (!content) return [...parts, element('p', {}, 'No body.')];
  const [media, { schema }] = content;
  if (media !== 'application/json') return [...parts, element('p', {}, media)];
  const fields = unfolding(element('summary', {}, 'Fields'), () => fieldTable(document_, schema));
  fields.classList.add('fields');
  return [...parts, sample(JSON.stringify(example(document_, schema, 0), null, 2)), fields];
}

// A line that a developer can paste: the path with shell variables for ids, the key, and a body with what is required.
function curl(document_, { path, method, call }) {
  const real = path.replace(/\{([^}]+)\}/g, (_, name) => '$' + name.toUpperCase());
  const lines = ['curl ' + (method === 'get' ? '' : '-X ' + method.toUpperCase() + ' ') + '"' + location.origin + real + '"'];
  const ways = call.security || document_.security;
  if (ways.some((way) => way.bearer)) lines.push('-H "Authorization: Bearer $POSTRIDER_KEY"');
  const content = bodyAsked(call);
  if (content && content[0] === 'application/json') lines.push("-d '" + JSON.stringify(smallest(document_, content[1].schema)) + "'");
  if (content && content[0] !== 'application/json') lines.push("-H 'X-Event-Type: order.paid'", "-d '{\"order\": 1001}'");
  return lines.join(' \\\n  ');
}

// The required fields; where there are none, the first that has a plain value, so that a change shows one.
function smallest(document_, schema) {
  const shown = plain(document_, schema);
  const names = shown.required || Object.keys(shown.properties || {}).slice(0, 1);
  return Object.fromEntries(names.map((name) => [name, named(name, document_, shown.properties[name], 0)]));
}

function example(document_, schema, depth) {
  const shown = plain(document_, schema);
  if (schema.example !== undefined) return schema.example;
  if (shown.example !== undefined) return shown.example;
  if (shown.enum) return shown.enum[0];
  if (shown.default !== undefined) return shown.default;
  if (shown.oneOf) return example(document_, shown.oneOf[0], depth);
  const type = [shown.type].flat()[0];
  if (type === 'array') return depth > DEPTH_MAX + 2 ? [] : [example(document_, shown.items, depth + 1)];
  if (type === 'object') {
    const required = shown.required || [];
    const names = Object.keys(shown.properties || {}).filter((name) => required.includes(name));
    return Object.fromEntries(names.map((name) => [name, named(name, document_, shown.properties[name], depth + 1)]));
  }
  if (shown.format === 'date-time') return '2026-01-31T12:00:00.000Z';
  if (type === 'integer' || type === 'number') return shown.minimum ?? 0;
  if (type === 'boolean') return true;
  return shown.format === 'uri' ? location.origin + '/…' : 'text';
}

const PREFIXES = { account_id: 'acc', source_id: 'src', destination_id: 'dst', route_id: 'rte', event_id: 'evt', delivery_id: 'dlv' };

function named(name, document_, schema, depth) {
  if (PREFIXES[name] && schema.example === undefined) return PREFIXES[name] + '_01hz3k8q2v4xw';
  if (name === 'name' && schema.example === undefined) return 'shop';
  return example(document_, schema, depth);
}

function resolve(document_, schema) {
  if (!schema.$ref) return schema;
  return schema.$ref.replace('#/', '').split('/').reduce((value, part) => value[part], document_);
}

// Without the reference and without the way of being null.
function plain(document_, schema) {
  const shown = resolve(document_, schema);
  const ways = (shown.oneOf || []).filter((way) => way.type !== 'null');
  return shown.oneOf && ways.length === 1 ? plain(document_, ways[0]) : shown;
}

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const article of document.querySelectorAll('article.call')) {
    const fits = words.every((word) => article.dataset.text.includes(word));
    const id = article.dataset.call;
    article.classList.toggle('hidden', !fits);
    document.querySelector('#index [data-call="' + id + '"]').classList.toggle('hidden', !fits);
  }
  for (const group of document.querySelectorAll('[data-group]')) {
    group.classList.toggle('hidden', !group.querySelector('[data-call]:not(.hidden)'));
  }
}

function sample(text) {
  const button = element('button', { class: 'copy', type: 'button' }, 'Copy');
  button.addEventListener('click', () => navigator.clipboard?.writeText(text).then(() => { button.textContent = 'Copied'; }));
  return element('div', { class: 'sample' }, element('pre', {}, element('code', {}, text)), button);
}

// Text with `code` in it.
function prose(text) {
  return (text || '').split(/(`[^`]+`)/).filter(Boolean).map((part) => (part.startsWith('`') ? element('code', {}, part.slice(1, -1)) : part));
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function find(id) {
  return document.getElementById(id);
}
