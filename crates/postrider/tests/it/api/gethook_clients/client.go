// A client of GetHook's API in Go, with the models that GetHook's own clients decode into: a value of another kind fails, and
// so does a field that is always there and is missing (a pointer without `optional`). Prints how many answers it has read.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"time"
)

type Account struct {
	ID            *string    `json:"id"`
	Name          *string    `json:"name"`
	Plan          *string    `json:"plan"`
	Email         *string    `json:"email" optional:"yes"`
	RetentionDays *int       `json:"retention_days" optional:"yes"`
	CreatedAt     *time.Time `json:"created_at"`
}

type APIKey struct {
	ID        *string    `json:"id"`
	AccountID *string    `json:"account_id"`
	Name      *string    `json:"name"`
	Role      *string    `json:"role"`
	KeyPrefix *string    `json:"key_prefix"`
	CreatedAt *time.Time `json:"created_at"`
	RevokedAt *time.Time `json:"revoked_at" optional:"yes"`
	Key       *string    `json:"key" optional:"yes"`
	PlainKey  *string    `json:"plain_key" optional:"yes"`
}

type NewAccount struct {
	Account *Account `json:"account"`
	APIKey  *APIKey  `json:"api_key"`
}

type NewKey struct {
	ID  *string `json:"id"`
	Key *string `json:"key"`
}

type Preset struct {
	Name *string `json:"name"`
}

type Source struct {
	ID                 *string           `json:"id"`
	AccountID          *string           `json:"account_id"`
	Name               *string           `json:"name"`
	PathToken          *string           `json:"path_token"`
	IngestURL          *string           `json:"ingest_url"`
	AuthMode           *string           `json:"auth_mode"`
	Provider           *string           `json:"provider" optional:"yes"`
	VerificationConfig map[string]string `json:"verification_config"`
	Status             *string           `json:"status"`
	CreatedAt          *time.Time        `json:"created_at"`
}

type Destination struct {
	ID             *string           `json:"id"`
	AccountID      *string           `json:"account_id"`
	Name           *string           `json:"name"`
	URL            *string           `json:"url"`
	TimeoutSeconds *int              `json:"timeout_seconds"`
	MaxConcurrency *int              `json:"max_concurrency"`
	Active         *bool             `json:"active"`
	AuthConfig     map[string]string `json:"auth_config"`
	CustomHeaders  map[string]string `json:"custom_headers"`
	Preset         *string           `json:"preset" optional:"yes"`
	CreatedAt      *time.Time        `json:"created_at"`
}

type Secret struct {
	SigningSecret *string `json:"signing_secret"`
}

type RetryPolicy struct {
	MaxAttempts *int    `json:"max_attempts" optional:"yes"`
	Backoff     *string `json:"backoff" optional:"yes"`
}

type Route struct {
	ID               *string      `json:"id"`
	AccountID        *string      `json:"account_id"`
	SourceID         *string      `json:"source_id" optional:"yes"`
	DestinationID    *string      `json:"destination_id"`
	EventTypePattern *string      `json:"event_type_pattern" optional:"yes"`
	RetryPolicy      *RetryPolicy `json:"retry_policy"`
	Priority         *int         `json:"priority"`
	Active           *bool        `json:"active"`
	CreatedAt        *time.Time   `json:"created_at"`
}

type Event struct {
	ID              *string           `json:"id"`
	AccountID       *string           `json:"account_id"`
	Direction       *string           `json:"direction"`
	SourceID        *string           `json:"source_id" optional:"yes"`
	EventType       *string           `json:"event_type" optional:"yes"`
	ExternalEventID *string           `json:"external_event_id" optional:"yes"`
	Headers         map[string]string `json:"headers"`
	Body            *string           `json:"body"`
	PayloadHash     *string           `json:"payload_hash" optional:"yes"`
	Status          *string           `json:"status"`
	AttemptsCount   *int              `json:"attempts_count"`
	NextAttemptAt   *time.Time        `json:"next_attempt_at" optional:"yes"`
	FinalState      *string           `json:"final_state" optional:"yes"`
	ReceivedAt      *time.Time        `json:"received_at"`
	CreatedAt       *time.Time        `json:"created_at"`
	CreatedBy       *string           `json:"created_by" optional:"yes"`
}

type Attempt struct {
	ID             *string    `json:"id"`
	EventID        *string    `json:"event_id"`
	DestinationID  *string    `json:"destination_id"`
	AttemptNumber  *int       `json:"attempt_number"`
	StartedAt      *time.Time `json:"started_at"`
	FinishedAt     *time.Time `json:"finished_at" optional:"yes"`
	ResponseStatus *int       `json:"response_status" optional:"yes"`
	ResponseBody   *string    `json:"response_body" optional:"yes"`
	ErrorMessage   *string    `json:"error_message" optional:"yes"`
	LatencyMS      *int       `json:"latency_ms" optional:"yes"`
	Outcome        *string    `json:"outcome"`
}

type EventPage struct {
	Items *[]Event `json:"items"`
	Total *int     `json:"total"`
}

type EventDetail struct {
	Event    *Event     `json:"event"`
	Attempts *[]Attempt `json:"attempts"`
}

type Ingested struct {
	ID     *string `json:"id"`
	Status *string `json:"status"`
	Note   *string `json:"note" optional:"yes"`
}

type Replay struct {
	OriginalEventID *string `json:"original_event_id"`
	ReplayEventID   *string `json:"replay_event_id"`
	Status          *string `json:"status"`
}

type Stats struct {
	ByStatus *[]struct {
		Status *string `json:"status"`
		Count  *int    `json:"count"`
	} `json:"by_status"`
	Totals *struct {
		Total     *int `json:"total"`
		Delivered *int `json:"delivered"`
		Failed    *int `json:"failed"`
	} `json:"totals"`
	Daily *[]struct {
		Date      *string `json:"date"`
		Inbound   *int    `json:"inbound"`
		Outbound  *int    `json:"outbound"`
		Delivered *int    `json:"delivered"`
		Failed    *int    `json:"failed"`
	} `json:"daily"`
}

type PlatformStats struct {
	EventsProcessed  *int     `json:"events_processed"`
	EventsDelivered  *int     `json:"events_delivered"`
	DeliveryAttempts *int     `json:"delivery_attempts"`
	SuccessRatePct   *float64 `json:"success_rate_pct"`
}

type Brand struct {
	ID           *string    `json:"id"`
	AccountID    *string    `json:"account_id"`
	CompanyName  *string    `json:"company_name"`
	DocsTitle    *string    `json:"docs_title" optional:"yes"`
	PrimaryColor *string    `json:"primary_color" optional:"yes"`
	SupportEmail *string    `json:"support_email" optional:"yes"`
	CreatedAt    *time.Time `json:"created_at"`
	UpdatedAt    *time.Time `json:"updated_at"`
}

var (
	base, receiver = os.Getenv("GETHOOK_API_BASE"), os.Getenv("GETHOOK_RECEIVER")
	key            string
	answers        int
)

func fail(format string, about ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", about...)
	os.Exit(1)
}

func expect(holds bool, format string, about ...any) {
	if !holds {
		fail(format, about...)
	}
}

// What is always there must be there, however deep.
func whole(value reflect.Value, place string) {
	switch value.Kind() {
	case reflect.Pointer:
		whole(value.Elem(), place)
	case reflect.Slice:
		for index := range value.Len() {
			whole(value.Index(index), fmt.Sprintf("%s[%d]", place, index))
		}
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for index := range value.NumField() {
			field, kind := value.Field(index), value.Type().Field(index)
			name := place + "." + kind.Tag.Get("json")
			if field.Kind() != reflect.Pointer || !field.IsNil() {
				whole(field, name)
			} else {
				expect(kind.Tag.Get("optional") != "", "%s is missing", name)
			}
		}
	}
}

func send(method, url string, body any, headers map[string]string, status int) []byte {
	var sent io.Reader
	if body != nil {
		text, _ := json.Marshal(body)
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, url, sent)
	expect(err == nil, "%s %s: %v", method, url, err)
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := http.DefaultClient.Do(request)
	expect(err == nil, "%s %s: %v", method, url, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	expect(err == nil, "%s %s: %v", method, url, err)
	expect(answer.StatusCode == status, "%s %s answered %d: %s", method, url, answer.StatusCode, text)
	answers++
	return text
}

func call[T any](method, path string, body any, status int) T {
	return decode[T](path, send(method, base+path, body, nil, status))
}

func decode[T any](place string, text []byte) T {
	var envelope struct {
		Data *T `json:"data"`
	}
	err := json.Unmarshal(text, &envelope)
	expect(err == nil && envelope.Data != nil, "%s: %v in %s", place, err, text)
	whole(reflect.ValueOf(envelope.Data), place)
	return *envelope.Data
}

func refused(method, path string, body any, status int) {
	var refusal struct {
		Error string `json:"error"`
	}
	text := send(method, base+path, body, nil, status)
	expect(json.Unmarshal(text, &refusal) == nil && refusal.Error != "", "%s: no error in %s", path, text)
}

func gone(path string) {
	expect(len(send("DELETE", base+path, nil, nil, 204)) == 0, "%s: a 204 has a body", path)
}

func delivered(path, id string) EventDetail {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
		if found := call[EventDetail]("GET", path+id, nil, 200); *found.Event.Status == "delivered" {
			expect(len(*found.Attempts) > 0, "%s was delivered without an attempt", id)
			return found
		}
	}
	fail("%s was not delivered", id)
	return EventDetail{}
}

type object = map[string]any

func main() {
	refused("GET", "/v1/sources", nil, 401)
	for _, list := range []string{"/v1/provider-presets", "/v1/destination-presets"} {
		expect(len(call[[]Preset]("GET", list, nil, 200)) > 0, "%s is empty", list)
	}
	call[PlatformStats]("GET", "/v1/platform-stats", nil, 200)
	refused("POST", "/v1/accounts", object{}, 400)
	made := call[NewAccount]("POST", "/v1/accounts", object{"name": "shop"}, 201)
	expect(made.APIKey.Key != nil && made.APIKey.PlainKey != nil, "the first key is not shown")
	key = *made.APIKey.PlainKey
	another := call[NewKey]("POST", "/v1/api-keys", object{"name": "ci"}, 201)
	expect(len(call[[]APIKey]("GET", "/v1/api-keys", nil, 200)) == 2, "there are two keys")
	gone("/v1/api-keys/" + *another.ID)

	source := call[Source]("POST", "/v1/sources", object{"name": "in"}, 201)
	call[Source]("GET", "/v1/sources/"+*source.ID, nil, 200)
	call[[]Source]("GET", "/v1/sources", nil, 200)
	signed := call[Source]("POST", "/v1/sources", object{"name": "signed", "auth_mode": "shared_secret",
		"verification_config": object{"header": "X-Key", "secret": "secret"}}, 201)
	expect(signed.VerificationConfig["header"] == "X-Key", "the header is not shown")
	gone("/v1/sources/" + *signed.ID)

	destination := call[Destination]("POST", "/v1/destinations", object{"name": "out", "url": receiver,
		"timeout_seconds": 30, "auth_config": object{"type": "bearer", "token": "token"}}, 201)
	place := "/v1/destinations/" + *destination.ID
	changed := call[Destination]("PATCH", place, object{"max_concurrency": 3}, 200)
	expect(*changed.MaxConcurrency == 3 && *changed.TimeoutSeconds == 30, "the change is not there")
	call[Destination]("GET", place, nil, 200)
	call[[]Destination]("GET", "/v1/destinations", nil, 200)
	call[Secret]("POST", place+"/rotate-secret", nil, 200)

	route := call[Route]("POST", "/v1/routes", object{"source_id": source.ID, "destination_id": destination.ID,
		"event_type_pattern": "order.*", "retry_policy": object{"max_attempts": 3, "backoff": "exponential"}}, 201)
	expect(*route.RetryPolicy.MaxAttempts == 3, "the policy is not there")
	outbound := call[Route]("POST", "/v1/routes", object{"destination_id": destination.ID, "event_type_pattern": "invoice.*"}, 201)
	expect(len(call[[]Route]("GET", "/v1/routes", nil, 200)) == 2, "there are two routes")

	headers := map[string]string{"X-Event-Type": "order.paid", "X-Webhook-Id": "once"}
	ingested := decode[Ingested]("ingest", send("POST", *source.IngestURL, object{"order": 7}, headers, 202))
	expect(*ingested.Status == "queued", "it is %s", *ingested.Status)
	again := decode[Ingested]("ingest", send("POST", *source.IngestURL, object{"order": 7}, headers, 202))
	expect(*again.Status == "accepted" && *again.Note == "duplicate", "it is no duplicate")
	seen := delivered("/v1/events/", *ingested.ID)
	expect(*seen.Event.Body == `{"order":7}`, "the body is %s", *seen.Event.Body)
	query := "/v1/events?direction=inbound&status=delivered&limit=10&offset=0&source_id=" + *source.ID
	page := call[EventPage]("GET", query, nil, 200)
	expect(*page.Total == 1 && len(*page.Items) == 1, "the page has %d of %d", len(*page.Items), *page.Total)
	replay := call[Replay]("POST", "/v1/events/"+*ingested.ID+"/replay", nil, 202)
	delivered("/v1/events/", *replay.ReplayEventID)

	sent := call[Ingested]("POST", "/v1/outbound-events",
		object{"event_type": "invoice.sent", "external_event_id": "inv_1", "payload": `{"invoice":1}`}, 201)
	delivered("/v1/outbound-events/", *sent.ID)
	call[EventPage]("GET", "/v1/outbound-events?limit=10", nil, 200)
	call[Replay]("POST", "/v1/outbound-events/"+*sent.ID+"/replay", nil, 202)

	stats := call[Stats]("GET", "/v1/stats", nil, 200)
	expect(*stats.Totals.Delivered >= 3 && len(*stats.Daily) > 0, "the figures lack deliveries")
	call[PlatformStats]("GET", "/v1/platform-stats", nil, 200)
	call[Brand]("POST", "/v1/brand-settings", object{"company_name": "Shop"}, 200)
	call[Brand]("GET", "/v1/brand-settings", nil, 200)

	refused("POST", "/v1/destinations", object{"name": "a"}, 400)
	refused("POST", "/v1/destinations", object{"name": "a", "url": receiver, "auth_config": object{"type": "bearer"}}, 400)
	refused("POST", "/v1/sources", object{"name": "a", "auth_mode": "shared_secret",
		"verification_config": object{"header": "X-Key"}}, 400)
	refused("GET", "/v1/events/evt_0000000000000", nil, 404)
	for _, path := range []string{"/v1/routes/" + *route.ID, "/v1/routes/" + *outbound.ID, place, "/v1/sources/" + *source.ID} {
		gone(path)
	}
	key = ""
	var health map[string]string
	text := send("GET", base+"/healthz", nil, nil, 200)
	expect(json.Unmarshal(text, &health) == nil && len(health) > 0, "no flat map of texts: %s", text)
	fmt.Println(answers, "answers read")
}
