-- Each connection creates deposits and confirms what was created: `request` confirms a transaction that
-- waits, or else creates one. The created ones of a thread are common to its connections. The cents of an
-- amount are the number of its teller, since the answer to a creation does not name the teller.

local threads = {}

function setup(thread)
    table.insert(threads, thread)
end

function init(arguments)
    tellers, accounts = tonumber(arguments[1]), tonumber(arguments[2])
    -- How the customers are called: c0, c1, or as the third argument says.
    customer = arguments[3] or "c%d"
    waiting, first, last, turn = {}, 1, 0, 0
    confirmed, wrong = 0, 0
    headers = { ["content-type"] = "application/json" }
end

local body = '{"transactionType":"CDPT","customerIdentifier":"%s","productIdentifier":"plain",'
    .. '"customerAccountIdentifier":"%s.9100.00001","amount":1.%02d}'

function request()
    if first <= last then
        local path = waiting[first]
        waiting[first] = nil
        first = first + 1
        return wrk.format("POST", path)
    end
    turn = turn + 1
    local teller, account = turn % tellers, turn * 7 % accounts
    local path = "/teller/T" .. teller .. "/transactions"
    local name = customer:format(account)
    return wrk.format("POST", path, headers, body:format(name, name, teller))
end

function response(status, _, answer)
    if status == 202 then
        confirmed = confirmed + 1
    elseif status == 200 then
        last = last + 1
        local transaction = answer:match('"tellerTransactionIdentifier":"(%w+)"')
        local teller = tonumber(answer:match('"totalAmount":1%.(%d%d)'))
        waiting[last] = "/teller/T" .. teller .. "/transactions/" .. transaction .. "?command=CONFIRM"
    else
        wrong = wrong + 1
    end
end

function done(summary)
    local all, refused = 0, 0
    for _, thread in ipairs(threads) do
        all, refused = all + thread:get("confirmed"), refused + thread:get("wrong")
    end
    print(("confirmed %d wrong %d in %d"):format(all, refused, summary.duration))
end
